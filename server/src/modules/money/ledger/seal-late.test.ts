import { afterAll, beforeAll, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { verifyLedger } from '../verifications/verify-ledger.ts'
import { verifyLedgerSeals } from '../verifications/verify-seals.ts'
import { sealLedgerEntries } from './ledger-seals.ts'
import { sealLate } from './seal-late.ts'

let bench: TransferBench
beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())

const faults = async () => (await verifyLedgerSeals(bench.test.deps.db)).map(({ fault }) => fault?.kind ?? null)
const seal = () =>
  inTransaction(bench.test.deps.db, (trx) =>
    sealLate(trx, { reason: 'An old node wrote beside the new schema', operator: 'root on host', now: new Date() }),
  )

it('entries that no seal holds are sealed late, only once, and an audit record names them', async () => {
  await bench.fundedAddress({ usdt: '1' })
  await sealLedgerEntries(bench.test.deps)
  await bench.fundedAddress({ usdt: '2' })
  // A node of a version before seals writes entries without rows of ledger_unsealed.
  const missed = await bench.sql('delete from ledger_unsealed returning sequence')
  expect(missed.length).toBeGreaterThan(0)
  expect(await faults()).toEqual(['inserted'])

  const late = await seal()
  expect(late).toEqual([{ code: 'main-vault', count: missed.length, ranges: expect.any(Array) }])
  expect(await seal()).toEqual([])
  await sealLedgerEntries(bench.test.deps)
  expect(await faults()).toEqual([null])
  expect((await verifyLedger(bench.test.deps.db)).differences).toEqual([])
  const records = await bench.sql(`select content from audit_records where action = 'ledger.sealed_late'`)
  expect(records.map(({ content }) => JSON.parse(content).details)).toEqual([
    {
      count: missed.length,
      entries: late[0]!.ranges,
      operator: 'root on host',
      reason: 'An old node wrote beside the new schema',
    },
  ])
})

it('entries that wait for the next seal are not sealed late', async () => {
  await bench.fundedAddress({ usdt: '3' })
  expect(await seal()).toEqual([])
})
