import pg from 'pg'
import { expect } from 'vitest'
import { handOversPerVaultMax } from '../lib/limits.ts'
import { deliverDueTransfers } from '../modules/money/delivery/deliver.ts'
import { sealLedgerEntries } from '../modules/money/ledger/ledger-seals.ts'
import { verifyLedger } from '../modules/money/verifications/verify-ledger.ts'
import { verifyLedgerSeals } from '../modules/money/verifications/verify-seals.ts'
import type { Address, AnswerOf, BodyOf, Policy } from './answer.ts'
import { createTestApp, type Person, type TestApp } from './app.ts'
import { fakeAddress } from './fake-wallet.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createPolicy,
  createVaultFixture,
  deposit,
  ensureGroup,
  usdtContract,
  type VaultFixture,
} from './fixtures.ts'

type Balance = { available: string; reserved: string }

/** A vault with people, policies and a wallet, and the functions with which tests move money through it. */
export type TransferBench = {
  test: TestApp
  vault: VaultFixture
  /** Owns addresses and orders transfers; in the group `treasury`. */
  owner: Person
  /** A member of the group `approvers`. */
  firstApprover: Person
  secondApprover: Person
  thirdApprover: Person
  approversId: string
  /** A recipient outside the service. */
  recipient: string
  /** Adds a policy for transfers to the group `everyone`. */
  policy(body: Record<string, unknown>): Promise<Policy>
  /** Creates an address with USDT as its primary token and with these amounts on it. */
  fundedAddress(funds?: { usdt?: string; eth?: string }, by?: Person): Promise<Address>
  order(
    addressId: string,
    amount: string,
    more?: Record<string, unknown>,
    by?: Person,
  ): Promise<AnswerOf<'post', '/vaults/v/transfers'>>
  read(id: string, by?: Person): Promise<BodyOf<'get', '/vaults/v/transfers/t'>>
  act(
    by: Person,
    id: string,
    verb: 'approve' | 'reject' | 'cancel',
    body?: object,
  ): Promise<AnswerOf<'post', '/vaults/v/transfers/t/approve'>>
  /** Returns the available and reserved balance of an address in token units, as its owner reads them. */
  balances(addressId: string, token?: string): Promise<Balance>
  /** Lets enough time pass for every transfer to be due, and delivers all of them once. */
  deliver(connect?: Parameters<typeof deliverDueTransfers>[1]): Promise<void>
  /** Runs SQL without the knowledge of the service, as the owner of the database. */
  // biome-ignore lint/suspicious/noExplicitAny: the test knows what a query returns.
  sql(text: string, values?: unknown[]): Promise<any[]>
  /** Makes a transfer due for its hand-over, without the knowledge of the service. */
  enqueue(id: string): Promise<void>
  /** Ends the time to vote on transfers, now or at a moment. */
  endVoting(ids: string[], at?: Date): Promise<void>
  /** Runs `work` in a transaction of the database's owner that is always rolled back. */
  rolledBack<Result>(work: (query: TransferBench['sql']) => Promise<Result>): Promise<Result>
  count(table: string): Promise<number>
  audited(action: string, targetId: string): Promise<number>
  /** Removes the seals, for tests that change the age of operations, which no service can do. */
  forgetSeals(): Promise<void>
  expectSoundLedger(): Promise<void>
  close(): Promise<void>
}

/**
 * Creates the bench. Orders up to 100 are allowed; above that two of three approvers must agree; from a million on they are
 * blocked.
 */
export async function createTransferBench(env: Record<string, string> = {}): Promise<TransferBench> {
  const test = await createTestApp(env)
  const vault = await createVaultFixture(test)
  const owner = await addMember(test, vault, 'owner@example.org', ['treasury'])
  const firstApprover = await addMember(test, vault, 'first.approver@example.org', ['approvers'])
  const secondApprover = await addMember(test, vault, 'second.approver@example.org', ['approvers'])
  const thirdApprover = await addMember(test, vault, 'third.approver@example.org', ['approvers'])
  const approversId = await ensureGroup(vault, 'approvers')
  const recipient = fakeAddress('a supplier')
  const databaseOwner = new pg.Pool({ connectionString: test.databaseUrl, max: 2 })
  databaseOwner.on('error', () => {})
  const base = `/vaults/${vault.code}` as const
  const sql: TransferBench['sql'] = async (text, values = []) => (await databaseOwner.query(text, values)).rows

  const bench: TransferBench = {
    test,
    vault,
    owner,
    firstApprover,
    secondApprover,
    thirdApprover,
    approversId,
    recipient,
    policy: (body) => createPolicy(vault, { name: body.code, actionType: 'transfer', ...body }),
    async fundedAddress({ usdt = '1000', eth } = {}, by = owner) {
      const address = await createAddress(by, { vault: vault.code, token: 'USDT' })
      if (usdt !== '0') await deposit(test, { address: address.address, asset: usdtContract, amount: usdt })
      if (eth !== undefined) await deposit(test, { address: address.address, amount: eth })
      return address
    },
    async order(addressId, amount, more = {}, by = owner) {
      const body = { fromAddressId: addressId, toAddress: recipient, amount, ...more }
      const answer = await by.post(`${base}/transfers`, body)
      // Later changes must not touch entries that are sealed by now.
      await sealLedgerEntries(test.deps)
      return answer
    },
    async read(id, by = owner) {
      const answer = await by.get(`${base}/transfers/${id}`)
      expect(answer.status).toBe(200)
      return answer.body
    },
    act: (by, id, verb, body) => by.post(`${base}/transfers/${id}/${verb}`, body),
    async balances(addressId, token = 'USDT') {
      const { body } = await vault.admin.get(`${base}/balances?summary=true&addressId=${addressId}&token=${token}`)
      const [total] = body.totals
      return { available: total!.availableDecimal, reserved: total!.reservedDecimal }
    },
    async deliver(connect) {
      test.clock.advance(61_000)
      // A full lane means that more transfers may wait.
      while ((await deliverDueTransfers(test.deps, connect)) >= handOversPerVaultMax);
    },
    sql,
    async enqueue(id) {
      await sql(
        `insert into deliveries (vault_id, id, queue, next_attempt_at)
         select vault_id, id, 'hand-over', now() from transfers where id = $1
         on conflict (vault_id, id) do update set queue = excluded.queue, next_attempt_at = excluded.next_attempt_at`,
        [id],
      )
    },
    async endVoting(ids, at) {
      await sql('update transfers set expires_at = $2 where id = any($1)', [ids, at ?? test.clock.now()])
      await sql(`update deliveries set next_attempt_at = $2 where id = any($1) and queue = 'votes'`, [
        ids,
        at ?? test.clock.now(),
      ])
    },
    async rolledBack(work) {
      const client = await databaseOwner.connect()
      try {
        await client.query('begin')
        return await work(async (text, values = []) => (await client.query(text, values)).rows)
      } finally {
        await client.query('rollback')
        client.release()
      }
    },
    count: async (table) => Number((await sql(`select count(*) from ${table}`))[0].count),
    audited: async (action, targetId) =>
      Number(
        (await sql('select count(*) from audit_records where action = $1 and target_id = $2', [action, targetId]))[0]
          .count,
      ),
    async forgetSeals() {
      await databaseOwner.query(`
        begin; delete from ledger_seals; delete from ledger_unsealed; delete from ledger_totals;
        insert into ledger_unsealed (vault_id, sequence, created_at) select vault_id, sequence, now() from ledger_entries;
        commit`)
    },
    async expectSoundLedger() {
      const { differences } = await verifyLedger(test.deps.db)
      expect(differences).toEqual([])
      await sealLedgerEntries(test.deps)
      const chains = await verifyLedgerSeals(test.deps.db, { trusted: new Set([test.deps.sealKey.keyId]) })
      expect(chains.map(({ fault }) => fault)).toEqual(chains.map(() => null))
    },
    async close() {
      await databaseOwner.end()
      await test.close()
      await vault.wallet.close()
    },
  }
  await allowAll(vault, 'create_address')
  await bench.policy({ code: 'small', effect: 'allow', rules: amountRule({ op: 'lte', value: '100' }) })
  await bench.policy({
    code: 'large',
    effect: 'requireApproval',
    approvalThreshold: 2,
    rules: amountRule({ op: 'gt', value: '100' }),
    approvers: [{ kind: 'group', groupId: approversId }],
  })
  await bench.policy({
    code: 'absurd',
    effect: 'block',
    blockReason: 'Nobody moves a million',
    rules: amountRule({ op: 'gte', value: '1000000' }),
  })
  return bench
}

/** Returns the rules of a policy that only reads the amount. */
export const amountRule = (value: object) => [
  { conditionType: 'require', selectors: [{ selectorType: 'amount', value }] },
]
