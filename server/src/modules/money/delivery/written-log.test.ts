import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { countLog } from '../../../testing/written-log.ts'
import { sealAuditRecords } from '../../record/audit/audit-seals.ts'

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())

const transfersCount = 30
/** Bytes of the log for a transfer from its order to its seals, without an Idempotency-Key and without the wallet service. */
const bytesMax = 22_500

/** Shares of the updates. The others moved to another page, which writes all indexes; a page has three rows of transfers. */
const heapOnlyMin = { operations: 0.95, transfers: 0.7, ledger_accounts: 0.95 }

/** Settles transfers one after the other: transfers that change in one transaction need room in their page for all of them. */
async function settle(): Promise<void> {
  const address = await bench.fundedAddress()
  for (let count = 0; count < transfersCount; count++) {
    const { id } = (await bench.order(address.id, '1')).body
    await bench.deliver()
    bench.vault.wallet.broadcast(id)
    await bench.deliver()
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    expect((await bench.read(id)).status).toBe('confirmed')
  }
  await sealAuditRecords(bench.test.deps)
}

it('a settled transfer writes few bytes to the log, and its rows are updated in place', async () => {
  await settle()
  const end = await countLog(bench.sql)
  await settle()
  const { bytes, updates } = await end()
  expect(bytes / transfersCount).toBeLessThan(bytesMax)
  for (const [table, least] of Object.entries(heapOnlyMin)) {
    const { all, heapOnly } = updates[table]!
    expect(all, table).toBeGreaterThanOrEqual(transfersCount)
    expect(heapOnly / all, table).toBeGreaterThan(least)
  }
})

it('the log of a test can be counted also after checkpoints', async () => {
  const end = await countLog(bench.sql)
  await bench.order((await bench.fundedAddress()).id, '1')
  for (let count = 0; count < 3; count++) {
    await bench.sql('select pg_switch_wal()')
    await bench.sql('checkpoint')
    await bench.fundedAddress()
  }
  expect((await end()).bytes).toBeGreaterThan(0)
  expect(
    await bench.sql(`select from pg_replication_slots where slot_name like 'written_log_%' and database is null`),
  ).toEqual([])
})

it('no index of operations or transfers has a column that changes with their state', async () => {
  const indexes: { indexdef: string }[] = await bench.sql(
    `select indexdef from pg_indexes where schemaname = 'public' and tablename in ('operations', 'transfers')`,
  )
  const changing = [
    'status',
    'tx_hash',
    'wallet_tx_hash',
    'updated_at',
    'confirmed_at',
    'blockchain_at',
    'phase',
    'fee',
    'fee_token_id',
  ]
    .concat('failure_reason', 'halt_reason', 'sent_at', 'stuck_since', 'replacement_due')
    .map((column) => new RegExp(`\\b${column}\\b`))
  expect(indexes.length).toBeGreaterThan(15)
  expect(indexes.filter(({ indexdef }) => changing.some((column) => column.test(indexdef)))).toEqual([])
})
