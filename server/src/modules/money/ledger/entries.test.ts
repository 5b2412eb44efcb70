import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { schemaEpoch } from '../../../db/epoch.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { newId } from '../../../lib/ids.ts'
import { createAddress } from '../../../testing/fixtures.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { verifyLedger } from '../verifications/verify-ledger.ts'
import { postEntries, posting, signedPosting } from './postings.ts'

let bench: TransferBench
let vaultId: string
let usdt: string
let eth: string
let from: string

type Account = { number: string; address_id: string; token_id: string; purpose: string; balance: string }

beforeAll(async () => {
  bench = await createTransferBench()
  vaultId = bench.vault.id
  usdt = bench.vault.tokens.usdt.id
  eth = bench.vault.tokens.eth.id
  from = (await bench.fundedAddress({ usdt: '1000', eth: '1' })).id
  await bench.order(from, '50')
})
afterAll(() => bench.close())

const accountsOf = (addressId: string): Promise<Account[]> =>
  bench.sql('select number, address_id, token_id, purpose, balance from ledger_accounts where address_id = $1', [
    addressId,
  ])

describe('T2 the database itself refuses an entry that does not balance', () => {
  it.each(['owner', 'strongroom_app'])('T2 as %s', async (who) => {
    const accounts = await accountsOf(from)
    const find = (token: string, purpose: string) =>
      accounts.find((account) => account.token_id === token && account.purpose === purpose)!
    const available = find(usdt, 'available').number
    const reserved = find(usdt, 'reserved').number
    const coins = find(eth, 'available').number
    const both = {
      token_id: usdt,
      debit_account: available,
      credit_account: reserved,
      debit_balance: 1,
      credit_balance: 1,
    }
    const bad: [string, Record<string, unknown>][] = [
      [
        'one side of a reservation is missing',
        { ...both, kind: 'reserve', amount: 5, credit_account: null, credit_balance: null },
      ],
      [
        'one side of a release is missing',
        { ...both, kind: 'release', amount: 5, debit_account: null, debit_balance: null },
      ],
      ['both sides are missing', { token_id: usdt, kind: 'reserve', amount: 5 }],
      ['both sides are missing in a deposit', { token_id: usdt, kind: 'deposit', amount: 5 }],
      ['a deposit takes from an address', { ...both, kind: 'deposit', amount: 5 }],
      [
        'a settlement has no source',
        { token_id: usdt, kind: 'settle', amount: 5, credit_account: available, credit_balance: 5 },
      ],
      ['two tokens are mixed', { ...both, kind: 'reserve', amount: 5, credit_account: coins }],
      ['the token is not that of its accounts', { ...both, kind: 'reserve', amount: 5, token_id: eth }],
      ['the account is of nowhere', { ...both, kind: 'reserve', amount: 5, credit_account: 99_999_999 }],
      ['it moves an account to itself', { ...both, kind: 'reserve', amount: 5, credit_account: available }],
      ['the amount is 0', { ...both, kind: 'reserve', amount: 0 }],
      ['the amount is negative', { ...both, kind: 'reserve', amount: -5 }],
      ['a running balance is negative', { ...both, kind: 'reserve', amount: 5, debit_balance: -1 }],
      ['a running balance is missing', { ...both, kind: 'reserve', amount: 5, debit_balance: null }],
      ['the kind is made up', { ...both, kind: 'gift', amount: 5 }],
      ['the vault is another one', { ...both, vault_id: newId(new Date()), kind: 'reserve', amount: 5 }],
    ]
    for (const [what, columns] of bad) {
      const names = Object.entries({
        vault_id: vaultId,
        operation_id: newId(new Date()),
        created_at: new Date(),
        ...columns,
      })
      const statement =
        `insert into ledger_entries (${names.map(([name]) => name).join(', ')}) values ` +
        `(${names.map((_, i) => `$${i + 1}`).join(', ')})`
      const code = await stateOf(
        statement,
        names.map(([, value]) => value),
        who,
      )
      expect([what, code?.slice(0, 2)]).toEqual([what, '23'])
    }
    await bench.expectSoundLedger()
  })

  it('T2 an operation has at most one entry of a type', async () => {
    const [entry] = await bench.sql(`select * from ledger_entries where kind = 'reserve' limit 1`)
    const { sequence: _, ...columns } = entry
    const names = Object.keys(columns)
    const statement = `insert into ledger_entries (${names.join(', ')}) values (${names.map((_name, i) => `$${i + 1}`).join(', ')})`
    expect(await stateOf(statement, Object.values(columns), 'strongroom_app')).toBe('23505')
  })

  it('T1 a balance below zero is refused', async () => {
    expect(await stateOf('update ledger_accounts set balance = -1', [], 'owner')).toBe('23514')
  })
})

describe('T8 the role of the service cannot rewrite the record', () => {
  it.each([
    'update ledger_entries set amount = amount + 1',
    'delete from ledger_entries',
    'truncate ledger_entries',
    'truncate ledger_accounts, ledger_entries cascade',
    'update adjustments set amount = 1',
    'delete from adjustments',
    'delete from wallet_events',
    `update wallet_events set body = ''`,
    'alter table ledger_entries disable trigger all',
    'alter table ledger_entries drop constraint ledger_entries_two_sides',
  ])('T8 %s', async (statement) => {
    expect(await stateOf(statement, [], 'strongroom_app')).toBe('42501')
  })

  it('T8 that is the role of every connection of the service', async () => {
    const { rows } = await sql<{ current_user: string }>`select current_user`.execute(bench.test.deps.db)
    expect(rows[0]!.current_user).toBe('strongroom_app')
  })
})

describe('posting', () => {
  const subject = (addressId: string, amount: bigint, tokenId = usdt) => ({
    vaultId,
    addressId,
    tokenId,
    amount,
    operationId: newId(new Date()),
  })
  const post = (...postings: Parameters<typeof postEntries>[1]) =>
    inTransaction(bench.test.deps.db, (trx) => postEntries(trx, postings, bench.test.clock.now()))

  it('refuses amounts of zero and below', () => {
    for (const amount of [0n, -1n]) {
      for (const kind of ['deposit', 'reserve', 'settle', 'release', 'fee'] as const) {
        expect(() => posting(kind, subject(from, amount))).toThrow(RangeError)
      }
    }
    expect(() => signedPosting('adjust', subject(from, 0n))).toThrow(RangeError)
  })

  it('T1 refuses a debit of an account that was never used, and creates no account', async () => {
    const address = await createAddress(bench.owner)
    for (const kind of ['reserve', 'fee', 'settle'] as const) {
      await expect(post(posting(kind, subject(address.id, 1n)))).rejects.toMatchObject({ code: '23514' })
    }
    expect(await accountsOf(address.id)).toEqual([])
  })

  it('T1 refuses postings of one statement that pass below zero on the way, even when they end above', async () => {
    const address = await createAddress(bench.owner)
    const down = posting('fee', subject(address.id, 5n))
    const up = posting('deposit', subject(address.id, 7n))
    await expect(post(down, up)).rejects.toMatchObject({ code: '23514' })
    await post(up, down)
    const balances = await bench.sql(
      'select debit_balance, credit_balance from ledger_entries where operation_id = any($1) order by sequence',
      [[up.operationId, down.operationId]],
    )
    expect(balances).toEqual([
      { debit_balance: null, credit_balance: '7' },
      { debit_balance: '2', credit_balance: null },
    ])
    expect((await accountsOf(address.id))[0]).toMatchObject({ purpose: 'available', balance: '2' })
  })

  it('never decreases the time within an account when the clocks of the nodes disagree', async () => {
    const address = await createAddress(bench.owner)
    const now = bench.test.clock.now().getTime()
    const postAt = (milliseconds: number, ...postings: Parameters<typeof postEntries>[1]) =>
      inTransaction(bench.test.deps.db, (trx) => postEntries(trx, postings, new Date(now + milliseconds)))
    const transfer = subject(address.id, 10n)
    await postAt(5_000, posting('deposit', subject(address.id, 100n)))
    await postAt(0, posting('reserve', transfer))
    await postAt(9_000, posting('settle', transfer))
    // The reserved account is at 9 s, the available one at 5 s: the entry between them has 9 s on both.
    await postAt(1_000, posting('reserve', subject(address.id, 1n)))
    await postAt(2_000, posting('deposit', subject(address.id, 1n)))
    await postAt(10_000, posting('deposit', subject(address.id, 1n)), posting('reserve', subject(address.id, 1n)))
    const entries = await bench.sql(
      `select kind, extract(epoch from e.created_at - $2::timestamptz)::int as at from ledger_entries e
       where exists (select from ledger_accounts a where a.address_id = $1 and a.number in (e.debit_account, e.credit_account))
       order by sequence`,
      [address.id, new Date(now)],
    )
    expect(entries.map(({ kind, at }) => `${kind} ${at}`)).toEqual([
      'deposit 5',
      'reserve 5',
      'settle 9',
      'reserve 9',
      'deposit 9',
      'deposit 10',
      'reserve 10',
    ])
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        const kind = i % 2 === 0 ? 'deposit' : 'reserve'
        return postAt(((i * 7_919) % 60) * 1_000, posting(kind, subject(address.id, 1n)))
      }),
    )
    const { differences } = await verifyLedger(bench.test.deps.db)
    expect(differences.filter(({ kind }) => kind === 'time of an entry')).toEqual([])
  })

  describe('T3 in one order of accounts', () => {
    type Form = (addressId: string) => Parameters<typeof postEntries>[1]
    const releases: Form = (id) => [posting('release', subject(id, 1n))]
    const oneSided: Form = (id) => [posting('settle', subject(id, 1n)), posting('deposit', subject(id, 1n))]
    const createAddresses = async () => {
      const ids: string[] = []
      for (let i = 0; i < 4; i += 1) ids.push((await createAddress(bench.owner)).id)
      return ids
    }

    it.each([
      ['with two sides', releases],
      ['with one', oneSided],
    ])('T3 locks the accounts of postings %s from the lowest to the highest', async (_what, form) => {
      const ids = await createAddresses()
      await post(...ids.flatMap((id) => [posting('deposit', subject(id, 9n)), posting('reserve', subject(id, 5n))]))
      const accounts = 'from ledger_accounts where address_id = any($1) order by address_id, token_id, purpose'
      const numbers = (await bench.sql(`select number ${accounts}`, [ids])).map(({ number }) => number)
      expect(numbers).toHaveLength(8)
      const waiting = await bench.rolledBack(async (query) => {
        await query('select from ledger_accounts where number = $1 for update', [numbers[4]])
        const posted = post(...ids.toReversed().flatMap(form))
        await untilSessionsWait(bench.test.deps.db)
        // It holds the locks before the one that it waits for, and none after it.
        const free = (await bench.sql(`select number ${accounts} for update skip locked`, [ids])).map(
          ({ number }) => number,
        )
        expect(free).toEqual(numbers.slice(5))
        return { posted }
      })
      await waiting.posted
    })

    it('T3 needs no retry for transactions that touch the same accounts in any order', async () => {
      const { db } = bench.test.deps
      const deposits: Form = (id) => [posting('deposit', subject(id, 9n))]
      const reservations: Form = (id) => [posting('reserve', subject(id, 5n))]
      for (let round = 0; round < 3; round += 1) {
        const ids = await createAddresses()
        for (const form of [deposits, reservations, releases, oneSided]) {
          const outcomes = await Promise.allSettled(
            Array.from({ length: 12 }, (_, i) => {
              const turned = [...ids.slice(i % 4), ...ids.slice(0, i % 4)]
              const postings = (i % 2 === 0 ? turned : turned.toReversed()).flatMap(form)
              return db.transaction().execute((trx) => postEntries(trx, postings, bench.test.clock.now()))
            }),
          )
          expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([])
        }
      }
    })
  })

  it('T6 creates one account at the concurrent first uses of a token, and loses no posting', async () => {
    for (let round = 0; round < 5; round += 1) {
      const address = await createAddress(bench.owner)
      await Promise.all(Array.from({ length: 10 }, () => post(posting('deposit', subject(address.id, 3n)))))
      expect(await accountsOf(address.id)).toMatchObject([{ purpose: 'available', balance: '30' }])
    }
    const external = await bench.sql(
      `select count(*) from ledger_accounts where purpose = 'external' and token_id = $1`,
      [usdt],
    )
    expect(external[0].count).toBe('1')
  })
})

/** Returns the SQLSTATE with which a statement fails under that role; the statement is always rolled back. */
async function stateOf(statement: string, values: unknown[], who: string): Promise<string | undefined> {
  return bench.rolledBack(async (query) => {
    if (who !== 'owner') await query(`set local role ${who}`)
    await query(`set local strongroom.epoch = ${schemaEpoch}`)
    return query(statement, values).then(
      () => undefined,
      (error: { code?: string }) => error.code,
    )
  })
}
