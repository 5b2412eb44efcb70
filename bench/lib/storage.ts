import type { Run } from './run.ts'
import { settleTransfers } from './transfers.ts'
import { createEvents, toArrival } from './world.ts'

const depositsCount = 30_000
const transfersCount = 3_000
const ledgerTables = ['ledger_accounts', 'ledger_entries']
const depositTables = [...ledgerTables, 'operations', 'deposits', 'wallet_events']
const transferTables = [
  ...ledgerTables,
  ...[
    'operations',
    'transfers',
    'transfer_hashes',
    'unconfirmed_transfers',
    'deliveries',
    'audit_records',
    'idempotency_keys',
  ],
]

/** Measures the disk space of a deposit and of a settled transfer, including indexes, and the WAL that they write. */
export async function measureStorage(run: Run): Promise<void> {
  const { record, world } = run
  const deposits = await growthOf(run, depositTables, async () => {
    const next = createEvents(world, world.spread)
    for (let done = 0; done < depositsCount; done += 2_000) {
      await Promise.all(Array.from({ length: 2_000 }, () => world.receive(toArrival(next()))))
    }
    run.acknowledged += depositsCount
  })
  const perDeposit = (bytes: number) => bytes / depositsCount
  record.add('bytes stored per deposit', 'B', perDeposit(sum(deposits.bytes)))
  for (const table of depositTables) record.add(`  in ${table}`, 'B', perDeposit(deposits.bytes[table]!))
  record.add('bytes of log per deposit', 'B', perDeposit(deposits.log))

  // Settles the transfers of earlier measurements and creates the accounts of each address, so that neither is counted.
  await settleTransfers(run, world.funded.length)
  const transfers = await growthOf(run, transferTables, () => settleTransfers(run, transfersCount))
  const perTransfer = (bytes: number) => bytes / transfersCount
  record.add('bytes stored per settled transfer', 'B', perTransfer(sum(transfers.bytes)))
  for (const table of transferTables) record.add(`  in ${table}`, 'B', perTransfer(transfers.bytes[table]!))
  record.expect('settledLog', record.add('bytes of log per settled transfer', 'B', perTransfer(transfers.log)))
  const inLedger = ledgerTables.reduce((total, table) => total + transfers.bytes[table]!, 0)
  record.expect('ledgerBytes', perTransfer(inLedger))
}

/** Measures the share of updates that changed no index entry, over all measurements. */
export async function measureHeapOnlyUpdates({ stack, record }: Run): Promise<void> {
  // Backends report their statistics with a delay of a second.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const rows = await stack.sql<{ table: string; updates: number; hot: number }>(
    `select relname as table, n_tup_upd::int as updates, n_tup_hot_upd::int as hot from pg_stat_user_tables
     where relname = any($1)`,
    [['ledger_accounts', 'operations', 'transfers', 'deliveries']],
  )
  for (const { table, updates, hot } of rows) {
    if (updates === 0) continue
    const share = record.add(`heap-only updates of ${table}, of ${updates}`, '', hot / updates)
    if (table === 'ledger_accounts') record.expect('heapOnlyBalances', share)
  }
}

async function growthOf(
  { stack }: Run,
  tables: string[],
  work: () => Promise<void>,
): Promise<{ bytes: Record<string, number>; log: number }> {
  // Vacuum releases reserved pages that are unused. After a checkpoint, the first change of each page is logged in full
  // again, as it is every few minutes on a running server.
  const settle = async () => {
    for (const table of tables) await stack.sql(`vacuum ${table}`)
    await stack.sql('checkpoint')
  }
  const sizes = async () => {
    const rows = await stack.sql<{ table: string; bytes: string }>(
      'select t as table, pg_total_relation_size(t::regclass) as bytes from unnest($1::text[]) t',
      [tables],
    )
    return Object.fromEntries(rows.map(({ table, bytes }) => [table, Number(bytes)]))
  }
  const log = async () => (await stack.sql<{ lsn: string }>('select pg_current_wal_insert_lsn() as lsn'))[0]!.lsn
  await settle()
  const [sizesBefore, logBefore] = [await sizes(), await log()]
  await work()
  const logAfter = await log()
  await settle()
  const sizesAfter = await sizes()
  const [written] = await stack.sql<{ bytes: string }>('select pg_wal_lsn_diff($1, $2) as bytes', [logAfter, logBefore])
  return {
    bytes: Object.fromEntries(tables.map((table) => [table, sizesAfter[table]! - sizesBefore[table]!])),
    log: Number(written!.bytes),
  }
}

const sum = (bytes: Record<string, number>) => Object.values(bytes).reduce((total, count) => total + count, 0)
