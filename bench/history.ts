import { addressScopeOf } from '../server/src/access/address-scope.ts'
import type { Db } from '../server/src/db/client.ts'
import { listHistory } from '../server/src/modules/operations/history/queries.ts'
import { createCostMeter, type FeedCost } from '../server/src/testing/feed-cost.ts'
import {
  combineQueries,
  type FeedQuery,
  type FeedRead,
  feedQueries,
  listFeedReads,
} from '../server/src/testing/feed-queries.ts'
import { type FeedDatabase, withFeedDatabases } from './lib/feed-database.ts'
import type { BenchRecord } from './lib/record.ts'
import { runBench } from './lib/run-bench.ts'

/**
 * Measures the cost of a page of the history, for an administrator, a member and a member with shared addresses. The
 * page is filtered by every filter, every pair of filters and every combination of all of them. The cost is counted in
 * 8 kB pages that PostgreSQL touches, which other load on the machine does not change. BENCH_OPERATIONS is the size of
 * the larger vault; BENCH_COMBINATIONS=off skips the combinations, for sizes at which only growth and depth matter.
 */
const operations = Number(process.env.BENCH_OPERATIONS ?? 1_000_000)
const fewOperations = 100_000
const withCombinations = process.env.BENCH_COMBINATIONS !== 'off'
const deepPage = 10_000
const limit = 20

type Meter = ReturnType<typeof createCostMeter>
let record: BenchRecord
const size = (of: number) => ({ operations: of, addresses: 10_000, members: 1_000, shared: 1_000 })
await runBench(async (of) => {
  record = of
  await withFeedDatabases([size(fewOperations), size(operations)], async (small, large) => {
    const [few, many] = [createCostMeter(small!.url), createCostMeter(large!.url)]
    await measureFilters(many, large!)
    await measureDepth(many, large!)
    await measureGrowth(few, small!, many, large!)
    await Promise.all([few.close(), many.close()])
  })
})

async function measureFilters(meter: Meter, { world }: FeedDatabase): Promise<void> {
  const queries = Object.entries(feedQueries(world))
  const pairs = queries.flatMap(([name, query], i) =>
    queries.slice(i).map(([other, more]) => ({ name: `${name} + ${other}`, query: combineQueries(query, more) })),
  )
  for (const readsAll of [true, false]) {
    const who = readsAll ? 'administrator' : 'member'
    await measureReads(meter, world, readsAll, `${who} by one or two filters`, pairs)
    if (!withCombinations) continue
    const { combinations, reads } = await listFeedReads(meter.db, world, (query) => scopeOf(world, readsAll, query))
    record.add(`${who}: combinations of all filters`, '', combinations)
    await measureReads(meter, world, readsAll, `${who} by all of them`, reads)
  }
}

async function measureReads(
  meter: Meter,
  world: World,
  readsAll: boolean,
  title: string,
  reads: FeedRead[],
): Promise<void> {
  const costs: (FeedCost & { name: string })[] = []
  for (const { name, query } of reads) costs.push({ name, ...(await costOf(meter, world, readsAll, query)) })
  const by = costs.toSorted((a, b) => a.buffers - b.buffers)
  const dearest = by.at(-1)!
  const scanned = costs.filter((cost) => cost.seqScans.length > 0)
  record.add(`${title}: different reads`, '', costs.length)
  record.add(`${title}: buffers of a page, median`, '', by[Math.floor(by.length / 2)]!.buffers)
  record.add(`${title}: buffers of a page, 99th percentile`, '', by[Math.floor(by.length * 0.99)]!.buffers)
  record.add(`${title}: buffers of the dearest page (${dearest.name})`, '', dearest.buffers)
  record.add(
    `${title}: time in the database of the slowest page`,
    'ms',
    Math.max(...costs.map((cost) => cost.milliseconds)),
  )
  record.expect('historyPage', dearest.buffers, title)
  record.expect('historyScans', scanned.length, title)
}

async function measureDepth(meter: Meter, { world }: FeedDatabase): Promise<void> {
  const scope = scopeOf(world, true, {})
  for (const name of ['none', 'direction=in', 'direction=out', 'flowType=external']) {
    const { filters } = feedQueries(world)[name]!
    let after: Awaited<ReturnType<typeof listHistory>>['next'] = null
    const walked = Math.min(deepPage - 1, Math.floor(world.operations / 4 / limit))
    // Goes to page 10,000 in steps of a hundred rows. A page of a hundred rows takes the same path as a shorter page.
    for (let rows = 0; rows < walked * limit; rows += 100) {
      after = (await listHistory(meter.db, scope, filters, { after, limit: 100 })).next
    }
    const cost = async (from: typeof after) =>
      (await meter.measure((db) => listHistory(db, scope, filters, { after: from, limit }))).cost.buffers
    const [first, deep] = [await cost(null), await cost(after)]
    record.add(`${name}: buffers of page 1`, '', first)
    record.add(`${name}: buffers of page ${walked + 1}`, '', deep)
    record.expect('historyDepth', deep / first, name)
  }
}

/**
 * Compares filters that fill the page in both vaults. The window bounds the cost of the other filters; the size of the
 * vault does not.
 */
async function measureGrowth(few: Meter, small: FeedDatabase, many: Meter, large: FeedDatabase): Promise<void> {
  const costs: { name: string; few: number; many: number }[] = []
  for (const readsAll of [true, false]) {
    for (const name of Object.keys(feedQueries(small.world))) {
      const [a, b] = [feedQueries(small.world)[name]!, feedQueries(large.world)[name]!]
      const [ofFew, ofMany] = [
        await costOf(few, small.world, readsAll, a),
        await costOf(many, large.world, readsAll, b),
      ]
      if (ofFew.rows === limit && ofMany.rows === limit) {
        costs.push({
          name: `${readsAll ? 'administrator' : 'member'} by ${name}`,
          few: ofFew.buffers,
          many: ofMany.buffers,
        })
      }
    }
  }
  const growth = costs.toSorted((a, b) => a.many / a.few - b.many / b.few)
  const worst = growth.at(-1)!
  const factor = `at ${large.world.operations} operations, of ${small.world.operations}`
  for (const { name, few, many } of growth) record.add(`${name}: buffers ${factor}`, '', many / few)
  record.expect('historyGrowth', worst.many / worst.few, worst.name)
}

type World = FeedDatabase['world']

function scopeOf(world: World, readsAll: boolean, { folderId, includeShared }: Partial<FeedQuery>) {
  const viewer = { userId: world.idOf('user', 1), readsAll, groupIds: [], vault: { id: world.vaultId } }
  return addressScopeOf(viewer, { folderId, includeShared })
}

async function costOf(
  meter: Meter,
  world: World,
  readsAll: boolean,
  query: FeedQuery,
): Promise<FeedCost & { rows: number }> {
  const read = (db: Db) => listHistory(db, scopeOf(world, readsAll, query), query.filters, { after: null, limit })
  const { result, cost } = await meter.measure(read)
  return { ...cost, rows: result.rows.length }
}
