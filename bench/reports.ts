import type { Member } from '../server/src/access/caller.ts'
import { type Db, openDatabase } from '../server/src/db/client.ts'
import { buildActivity } from '../server/src/modules/reports/activity/activity-report.ts'
import { readActivityRequest } from '../server/src/modules/reports/activity/activity-request.ts'
import { exceptionKinds } from '../server/src/modules/reports/blocks/data-quality.ts'
import {
  buildExceptions,
  readExceptionsRequest,
} from '../server/src/modules/reports/reports/operations-exceptions/build.ts'
import { createCostMeter } from '../server/src/testing/feed-cost.ts'
import { startPostgres } from './lib/postgres.ts'
import type { BenchRecord } from './lib/record.ts'
import { large, owner, partyId, seed, small, vaultId } from './lib/report-vault.ts'
import { toSeries } from './lib/rounds.ts'
import { runBench } from './lib/run-bench.ts'
import { leaveSqlBesideCode } from './lib/stack.ts'

/**
 * Measures the cost of an address activity report. Over 1,000,000 operations it may take at most twice the wall time of
 * one hand-written statement for the summary alone. Over 1,000 operations it may take at most 50 ms in 95 of 100 cases.
 * Many operations may need no more memory than few.
 *
 * Also measures a page of the operations behind the figures of data quality, with any filter and any statistics. It may
 * read at most twice the pages that it reads with fresh statistics and no filter. The cost is counted in 8 kB pages
 * that PostgreSQL touches, which other load on the machine does not change.
 *
 * BENCH_OPERATIONS sets the number of operations. REPORT_BENCH_URL names an empty database to use, or the database of
 * an earlier run.
 */
const operations = Number(process.env.BENCH_OPERATIONS ?? 1_000_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 7)
const smallRounds = 200

type Pool = ReturnType<typeof openDatabase>['pool']

const zone = 'Europe/Berlin'
const [from, to] = ['2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z']

const member = {
  userId: owner,
  kind: 'person',
  email: 'treasurer@example.org',
  isPlatformAdmin: false,
  sessionId: null,
  scopes: null,
  expiresAt: null,
  vault: { id: vaultId, code: 'bench', name: 'Bench', lockedAt: null, protection: 'off' },
  groupIds: [],
  isAdmin: false,
  isAuditor: false,
  isHeld: false,
  readsAll: false,
} satisfies Member
const interval = { from, to, timezone: zone }

const isOurTable = `relkind = 'r' and relnamespace = 'public'::regnamespace`
const forgetStatistics = `delete from pg_statistic where starelid in (select oid from pg_class where ${isOurTable})`

/**
 * Knowledge of the planner: the statistics as they are, plans for any parameters, no statistics, or the statistics of a
 * small vault.
 */
const beliefs: Record<string, string[]> = {
  'as they are': [],
  'generic plans': [setting('plan_cache_mode = force_generic_plan')],
  'no statistics': [forgetStatistics, `update pg_class set reltuples = -1 where ${isOurTable}`],
  'stale statistics': [forgetStatistics, `update pg_class set reltuples = ceil(relpages / 100.0) where ${isOurTable}`],
}

type Variation = Parameters<typeof readExceptionsRequest>[2]

/** Every kind of exception, and the filters that need other tables. */
const variations: Record<string, Variation> = {
  'all exceptions': {},
  ...Object.fromEntries(exceptionKinds.map((kind) => [kind, { exceptions: [kind] }])),
  'dated by the chain': { dateBasis: 'blockchainAt' },
  'counterparties of then': { counterpartyClassification: 'historical' },
  'by status': { statuses: ['failed'] },
  'by asset': { assets: ['T1'] },
  'by address': { ownAddressIds: [small] },
  'by category': { categories: ['payroll'] },
  'by a counterparty': { counterpartyIds: [partyId(11)] },
  'by a hundred counterparties': { counterpartyIds: Array.from({ length: 100 }, (_, i) => partyId(i)) },
  'by a policy that asked for votes': { approvalPolicyIds: ['cmbenchbatches00000000000'] },
  'by amount': { minimumAmount: '500000' },
}

await runBench(async (record) => {
  const url = process.env.REPORT_BENCH_URL
  const server = url ? { url, stop: async () => {} } : await startPostgres()
  try {
    await run(record, server.url)
  } finally {
    await server.stop()
  }
})

async function run(record: BenchRecord, url: string): Promise<void> {
  leaveSqlBesideCode()
  if (!(await isSeeded(url))) await seed(url, operations)
  const { db, pool } = openDatabase({ url, statementMilliseconds: 0, onError: (error) => console.error(error.message) })
  try {
    await record.noteSettings(async (text) => (await pool.query(text)).rows)
    await measure(record, db, pool)
    await measureExceptions(record, url, pool)
  } finally {
    await db.destroy()
  }
}

async function isSeeded(url: string): Promise<boolean> {
  const { db, pool } = openDatabase({ url, onError: () => {} })
  try {
    const { rows } = await pool.query('select from category_assignments limit 1')
    return rows.length > 0
  } catch {
    return false
  } finally {
    await db.destroy()
  }
}

async function measure(record: BenchRecord, db: Db, pool: Pool): Promise<void> {
  const report = (addressId: string) => buildActivity(db, requestOf(addressId))
  // The sides alternate, so that drift affects both equally.
  const bare: number[] = []
  const whole: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    bare.push(...(await timesOf(1, () => handWritten(pool))))
    whole.push(...(await timesOf(1, () => report(large))))
  }
  const count = (await report(large)).summary.operationsCount
  const alone = record.add(`${count} operations: summary alone`, 'ms', toSeries(bare))
  record.expect('report', record.add('  whole report', 'ms', toSeries(whole)) / alone)

  // The first runs fill caches.
  await timesOf(10, () => report(small))
  const few = await timesOf(smallRounds, () => report(small))
  const p95 = [...few].sort((a, b) => a - b)[Math.floor(smallRounds * 0.95)]!
  const smallCount = (await report(small)).summary.operationsCount
  record.add(`${smallCount} operations`, 'ms', toSeries(few))
  record.expect('smallReport', record.add('  95th percentile', 'ms', p95))

  const heapOfFew = await heapPeak(() => report(small))
  const heapOfMany = await heapPeak(() => report(large))
  record.add('heap above rest, few operations', 'MB', heapOfFew)
  record.add('  many operations', 'MB', heapOfMany)
  // Garbage of the driver may grow the heap; operations may not.
  record.expect('reportHeap', heapOfMany - heapOfFew)
}

function setting(parameter: string): string {
  return `do $$ begin execute format('alter database %I set ${parameter}', current_database()); end $$`
}

async function measureExceptions(record: BenchRecord, url: string, pool: Pool): Promise<void> {
  let plain = 0
  for (const [belief, statements] of Object.entries(beliefs)) {
    await asOwner(pool, statements)
    const meter = createCostMeter(url)
    try {
      for (const [name, variation] of Object.entries(variations)) {
        const request = readExceptionsRequest(
          'operations_exceptions',
          member,
          { ...interval, ...variation },
          new Date(),
        )
        const { cost } = await meter.measure((db) => buildExceptions(db, request))
        plain ||= cost.buffers
        record.add(`${name}, ${belief}: buffers`, '', cost.buffers)
        record.add('  time in the database', 'ms', cost.milliseconds)
        record.expect('exceptions', cost.buffers / plain, `${name}, ${belief}`)
      }
    } finally {
      await meter.close()
      await asOwner(pool, [setting('plan_cache_mode = auto'), 'analyze'])
    }
  }
}

async function asOwner(pool: Pool, statements: string[]): Promise<void> {
  const client = await pool.connect()
  try {
    for (const statement of ['set role none', ...statements]) await client.query(statement)
  } finally {
    client.release(true)
  }
}

function requestOf(addressId: string) {
  return readActivityRequest('address_activity', member, { addressId, ...interval }, new Date())
}

/** Computes the summary block alone, as a hand-written statement would. */
async function handWritten(pool: Pool): Promise<void> {
  await pool.query(
    `select token_id, count(*), count(*) filter (where type = 'deposit') as incoming,
      count(*) filter (where type = 'transfer') as outgoing,
      count(*) filter (where status = 'confirmed') as confirmed, count(*) filter (where status = 'pending') as pending,
      count(*) filter (where status = 'awaiting_approval') as awaiting, count(*) filter (where status = 'rejected') as rejected,
      count(*) filter (where status = 'cancelled') as cancelled, count(*) filter (where status = 'failed') as failed,
      count(distinct (created_at at time zone $1)::date) as active_days,
      sum(usd_value) filter (where type = 'deposit') as incoming_usd,
      sum(usd_value) filter (where type = 'transfer' and status = 'confirmed') as outgoing_usd,
      min(created_at) as first_at, max(created_at) as last_at,
      sum(amount) filter (where type = 'deposit') as incoming_amount,
      sum(amount) filter (where type = 'transfer' and status = 'confirmed') as outgoing_amount,
      avg(amount) filter (where status = 'confirmed') as average,
      percentile_disc(array[0.5, 0.500000001]) within group (order by amount) filter (where status = 'confirmed') as middles,
      min(amount) filter (where status = 'confirmed') as minimum, max(amount) filter (where status = 'confirmed') as maximum
    from operations
    where vault_id = $2 and address_id = $3 and owner_id = $4
      and created_at >= $5 and created_at < $6
    group by token_id`,
    [zone, vaultId, large, owner, from, to],
  )
}

async function timesOf(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < count; i += 1) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times
}

/** Returns the growth of the heap during a run, at its maximum, in MB. The heap is sampled while the run goes on. */
async function heapPeak(work: () => Promise<unknown>): Promise<number> {
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().heapUsed)
  }, 5)
  await work()
  clearInterval(timer)
  return (Math.max(peak, process.memoryUsage().heapUsed) - before) / 1_048_576
}
