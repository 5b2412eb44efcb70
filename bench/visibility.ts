import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressScopeOf } from '../server/src/access/address-scope.ts'
import { createApp } from '../server/src/app.ts'
import { readConfig } from '../server/src/config/config.ts'
import { openDatabase } from '../server/src/db/client.ts'
import { createLogger } from '../server/src/logger.ts'
import { noFilters } from '../server/src/modules/operations/feed/feed-filters.ts'
import { listHistory } from '../server/src/modules/operations/history/queries.ts'
import { openDeps } from '../server/src/start.ts'
import { createCostMeter } from '../server/src/testing/feed-cost.ts'
import { addBuiltInGroups, type FeedDatabase, signIn, withFeedDatabases } from './lib/feed-database.ts'
import type { BenchRecord } from './lib/record.ts'
import { measureRounds } from './lib/rounds.ts'
import { runBench } from './lib/run-bench.ts'

/**
 * Measures the cost of visibility rules for the first page of the history of a member, with and without 1,000 shared
 * addresses. It is compared with the page of an administrator, who sees the whole vault. Both the whole request and its
 * query alone are measured. BENCH_OPERATIONS is the size of the larger vault.
 */
const operations = Number(process.env.BENCH_OPERATIONS ?? 1_000_000)
const rounds = 15
const pagesPerRound = 40
const page = { after: null, limit: 20 }

let record: BenchRecord
const size = (of: number) => ({ operations: of, addresses: of / 10, members: of / 100, shared: 1_000 })
await runBench(async (of) => {
  record = of
  await withFeedDatabases([size(operations / 10), size(operations)], async (small, large) => {
    await measureReading(large!)
    await measureRequests(large!)
    const [few, many] = [await buffersOf(small!), await buffersOf(large!)]
    for (const who of ['administrator', 'member', 'member with shared'] as const) {
      record.add(`${who}: buffers at a tenth of the vault`, '', few[who])
      record.add(`${who}: buffers at the whole vault`, '', many[who])
      record.expect('visibilityGrowth', many[who] / few[who], who)
    }
  })
})

type Who = 'administrator' | 'member' | 'member with shared'

function scopeOf({ world }: FeedDatabase, who: Who) {
  const viewer = {
    userId: world.idOf('user', 1),
    readsAll: who === 'administrator',
    groupIds: [],
    vault: { id: world.vaultId },
  }
  return addressScopeOf(viewer, { includeShared: who === 'member with shared' })
}

async function measureReading(database: FeedDatabase): Promise<void> {
  const { db } = openDatabase({ url: database.url, onError: (error) => console.error(error.message) })
  const read = (who: Who) => () => listHistory(db, scopeOf(database, who), noFilters, page)
  await compare('reading the first page', read)
  await db.destroy()
}

/** Measures requests through the service, as users experience it. */
async function measureRequests({ url, world }: FeedDatabase): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-visibility-bench-'))
  const settings = { DEMO: 'true', DATA_DIR: dataDir, DATABASE_URL: url, PUBLIC_URL: 'http://localhost:8420' }
  const config = readConfig({ ...settings, LOG_LEVEL: 'error', RATE_LIMIT_PER_MINUTE: '0' })
  const { deps, close } = await openDeps(config, url, createLogger(config.logLevel), () => new Date())
  const [member, administrator] = [world.idOf('user', 1), world.idOf('user', 2)]
  await addBuiltInGroups(deps.db, world.vaultId, administrator)
  const tokens = { member: await signIn(deps.db, member), administrator: await signIn(deps.db, administrator) }
  const app = await createApp(deps)
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const ask = (who: Who) => async () => {
    const path = `/api/v1/vaults/main-vault/history?limit=${page.limit}${who === 'member with shared' ? '&includeShared=true' : ''}`
    const authorization = `Bearer ${who === 'administrator' ? tokens.administrator : tokens.member}`
    const response = await fetch(`${address}${path}`, { headers: { authorization } })
    const { items } = (await response.json()) as { items?: unknown[] }
    if (items?.length !== page.limit) throw new Error(`The page of a ${who} was answered ${response.status}`)
  }
  const shares = await compare('request of the first page', ask)
  record.expect('memberHistory', shares.member)
  record.expect('sharedHistory', shares.shared)
  await app.close()
  await close()
  rmSync(dataDir, { recursive: true, force: true })
}

async function compare(what: string, ask: (who: Who) => () => Promise<unknown>) {
  const medianOf = (who: Who) => async () => {
    const times: number[] = []
    for (let i = 0; i < pagesPerRound; i += 1) {
      const before = performance.now()
      await ask(who)()
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
  record.add(`${what}, administrator`, 'ms', administrator)
  record.add(`${what}, member`, 'ms', member)
  record.add(`${what}, member with shared`, 'ms', shared)
  const shares = { member: member.median / administrator.median, shared: shared.median / administrator.median }
  record.add('  member, of administrator', '', shares.member)
  record.add('  member with shared, of administrator', '', shares.shared)
  return shares
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
