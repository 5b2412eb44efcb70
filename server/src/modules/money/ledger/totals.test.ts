import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressScopeOf } from '../../../access/address-scope.ts'
import { readSnapshot } from '../../../db/transaction.ts'
import type { Address } from '../../../testing/answer.ts'
import { deposit, usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { sealLedgerEntries } from './ledger-seals.ts'
import { listTotals } from './queries.ts'

let bench: TransferBench
let addresses: Address[]

beforeAll(async () => {
  bench = await createTransferBench()
  addresses = []
  for (let i = 0; i < 6; i += 1) addresses.push(await bench.fundedAddress({ usdt: '1000', eth: '1' }))
})
afterAll(async () => {
  await bench.expectSoundLedger()
  await bench.close()
})

type Sums = Record<string, [available: string, reserved: string, exposure: string]>

/** Reads the totals of an administrator and the sums of the accounts, in one snapshot. */
async function readBoth(): Promise<{ totals: Sums; accounts: Sums; waiting: number }> {
  const viewer = { userId: bench.owner.userId, readsAll: true, groupIds: [], vault: { id: bench.vault.id } }
  const { db } = bench.test.deps
  return readSnapshot(db, async (trx) => {
    const rows = await listTotals(trx, addressScopeOf(viewer), { addressId: null, token: null }, new Date())
    const accounts = await trx
      .selectFrom('ledger_accounts as l')
      .innerJoin('tokens as t', 't.id', 'l.token_id')
      .select(['t.code', 'l.purpose', 'l.balance', 'l.exposure'])
      .where('l.address_id', '<>', '')
      .execute()
    const sums: Sums = {}
    for (const code of new Set(accounts.map((account) => account.code))) {
      const add = (read: (account: (typeof accounts)[number]) => string | null) =>
        accounts
          .reduce((sum, account) => sum + (account.code === code ? BigInt(read(account) ?? '0') : 0n), 0n)
          .toString()
      const ofPurpose = (purpose: string) => add((account) => (account.purpose === purpose ? account.balance : '0'))
      sums[code] = [ofPurpose('available'), ofPurpose('reserved'), add((account) => account.exposure)]
    }
    const { count } = await trx
      .selectFrom('ledger_unsealed')
      .select((of) => of.fn.countAll().as('count'))
      .executeTakeFirstOrThrow()
    const totals = Object.fromEntries(
      rows.map(({ token, available, reserved, exposure }) => [token.code, [available, reserved, exposure]]),
    ) as Sums
    return { totals, accounts: sums, waiting: Number(count) }
  })
}

describe('the totals of a vault', () => {
  it('T5 T10 are the sums of its accounts whether or not their entries are sealed', async () => {
    await sealLedgerEntries(bench.test.deps)
    const sealed = await readBoth()
    expect(sealed.totals).toEqual(sealed.accounts)
    expect(sealed.waiting).toBe(0)
    await deposit(bench.test, { address: addresses[0]!.address, asset: usdtContract, amount: '3' })
    const waiting = await readBoth()
    expect(waiting.totals).toEqual(waiting.accounts)
    expect(waiting.waiting).toBe(1)
    expect(BigInt(waiting.totals.USDT![0]) - BigInt(sealed.totals.USDT![0])).toBe(3_000_000n)
  })

  it('T5 T10 are exact in every snapshot while people order, deposits arrive and several nodes seal', async () => {
    let isOver = false
    const seen: { waiting: number; moved: string }[] = []
    const read = async () => {
      while (!isOver) {
        const { totals, accounts, waiting } = await readBoth()
        expect(totals).toEqual(accounts)
        seen.push({ waiting, moved: totals.USDT!.join() })
      }
    }
    const seal = async () => {
      while (!isOver) await sealLedgerEntries(bench.test.deps)
    }
    const move = async (address: Address) => {
      for (let round = 0; round < 12; round += 1) {
        await deposit(bench.test, { address: address.address, asset: usdtContract, amount: '2' })
        const { status, body } = await bench.order(address.id, '1')
        expect(status).toBe(201)
        if (round % 3 === 0) expect((await bench.act(bench.owner, body.id, 'cancel')).status).toBe(200)
      }
    }
    const beside = [read(), read(), seal(), seal()]
    await Promise.all(addresses.map(move)).finally(() => {
      isOver = true
    })
    await Promise.all(beside)
    // The readers saw the books change, with entries in the totals and with entries that waited.
    expect(new Set(seen.map(({ moved }) => moved)).size).toBeGreaterThan(10)
    expect(seen.some(({ waiting }) => waiting > 0)).toBe(true)
    const after = await readBoth()
    expect(after.totals).toEqual(after.accounts)
  })
})
