import { addressScopeOf } from '../server/src/access/address-scope.ts'
import { openDatabase } from '../server/src/db/client.ts'
import { listHistory } from '../server/src/modules/history/queries.ts'
import { noFilters } from '../server/src/modules/operations/feed.ts'
import { createCostMeter } from '../server/src/testing/feed-cost.ts'
import { type FeedDatabase, withFeedDatabases } from './lib/feed-database.ts'
import { createRecord, printGoals } from './lib/record.ts'
import { measureRounds } from './lib/rounds.ts'

/**
 * What it costs that people see their own part only: the first page of the history of a member, with and without what
 * 1,000 addresses of others share with them, against that of an administrator, who sees the whole vault. Ends with 1
 * when a goal is missed. BENCH_OPERATIONS is the size of the larger vault.
 */
const operations = Number(process.env.BENCH_OPERATIONS ?? 1_000_000)
const rounds = 15
const pagesPerRound = 40
const page = { after: null, limit: 20 }

const record = createRecord()
const size = (of: number) => ({ operations: of, addresses: of / 10, members: of / 100, shared: 1_000 })
await withFeedDatabases([size(operations / 10), size(operations)], async (small, large) => {
  await measureTimes(large!)
  const [few, many] = [await buffersOf(small!), await buffersOf(large!)]
  for (const who of ['administrator', 'member', 'member with shared'] as const) {
    record.add(`${who}: buffers at a tenth of the vault`, '', few[who])
    record.add(`${who}: buffers at the whole vault`, '', many[who])
    record.expect(`${who}: buffers at ten times the rows`, many[who] / few[who], 'at most', 1.3)
  }
})
printGoals(record)
if (record.goals.some(({ isMet }) => !isMet)) process.exitCode = 1

type Who = 'administrator' | 'member' | 'member with shared'

function scopeOf({ world }: FeedDatabase, who: Who) {
  const asker = {
    userId: world.idOf('user', 1),
    isAdmin: who === 'administrator',
    groupIds: [],
    vault: { id: world.vaultId },
  }
  return addressScopeOf(asker, { includeShared: who === 'member with shared' })
}

async function measureTimes(database: FeedDatabase): Promise<void> {
  const { db } = openDatabase({ url: database.url, onError: (error) => console.error(error.message) })
  const medianOf = (who: Who) => async () => {
    const times: number[] = []
    for (let i = 0; i < pagesPerRound; i += 1) {
      const before = performance.now()
      await listHistory(db, scopeOf(database, who), noFilters, page)
      times.push(performance.now() - before)
    }
    return times.sort((a, b) => a - b)[pagesPerRound / 2]!
  }
  const sides = {
    administrator: medianOf('administrator'),
    member: medianOf('member'),
    shared: medianOf('member with shared'),
  }
  for (const warm of Object.values(sides)) await warm()
  const { administrator, member, shared } = await measureRounds(rounds, sides)
  record.add('administrator: first page, median', 'ms', administrator)
  record.add('member: first page, median', 'ms', member)
  record.add('member with shared: first page, median', 'ms', shared)
  record.expect('member, of administrator', member.median / administrator.median, 'at most', 1.2)
  record.expect(
    'member with 1,000 shared addresses, of administrator',
    shared.median / administrator.median,
    'at most',
    3,
  )
  await db.destroy()
}

async function buffersOf(database: FeedDatabase): Promise<Record<Who, number>> {
  const meter = createCostMeter(database.url)
  const of = async (who: Who) =>
    (await meter.measure((db) => listHistory(db, scopeOf(database, who), noFilters, page))).cost.buffers
  const buffers = {
    administrator: await of('administrator'),
    member: await of('member'),
    'member with shared': await of('member with shared'),
  }
  await meter.close()
  return buffers
}
