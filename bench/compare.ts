import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { besideReports } from './lib/beside-reports.ts'
import { bareDeposits, deposits, noop } from './lib/deposits.ts'
import * as ourFeed from './lib/feed-database.ts'
import { loadClosed, toRequest } from './lib/http-load.ts'
import { createRecord } from './lib/record.ts'
import type { Run } from './lib/run.ts'
import * as ourStack from './lib/stack.ts'
import { bearer, castVotes, orderTransfers, postBare } from './lib/transfers.ts'
import { workOfOrders } from './lib/work.ts'
import * as ourWorld from './lib/world.ts'

/**
 * Compares this checkout with another checkout: `npm run bench:compare -- ../before`. Both services run at once, each
 * with its own PostgreSQL. Each figure is measured forwards and backwards (A B B A) in short turns, so that other load
 * on the machine affects both alike. Prints the rate of this checkout divided by that of the other: the mean of the
 * rounds with its 95% confidence interval. The other checkout must have this command too; without a bench/run.js, its
 * bench must be built first (`npx tsc6 -p bench`).
 */
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '2' },
    operations: { type: 'string', default: '200000' },
    only: { type: 'string', default: '' },
  },
})
const [other] = positionals
if (other === undefined) throw new Error('Name the directory of the checkout to compare with')
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
if (!(rounds >= 8)) throw new Error('Fewer than 8 rounds say too little')

type Bench = {
  startStack: typeof ourStack.startStack
  createWorld: typeof ourWorld.createWorld
  fillVault: typeof ourFeed.fillVault
}
type Measure<Subject> = Record<string, (subject: Subject) => Promise<number>>
type Pair<Subject> = { after: Subject; before: Subject }

const benches: Pair<Bench> = { after: { ...ourStack, ...ourWorld, ...ourFeed }, before: await benchOf(other) }
await compare(
  async (bench) => {
    const stack = await bench.startStack()
    const world = await bench.createWorld(stack)
    const load = { port: stack.port, seconds }
    const run: Run = {
      stack,
      world,
      record: createRecord(),
      rounds,
      seconds,
      load,
      acknowledged: world.deposited,
      operations: 0,
    }
    return { subject: run, close: () => world.close().then(stack.stop) }
  },
  { ...depositsAt(1), ...depositsAt(32), ...depositsAt(64), ...depositsAt(256), ...transfers() },
)
await compare(async (bench) => {
  const stack = await bench.startStack()
  const vault = await bench.fillVault(stack, Number(options.operations))
  return { subject: { port: stack.port, ...vault }, close: stack.stop }
}, reads())

async function benchOf(directory: string): Promise<Bench> {
  const runner = resolve(directory, 'bench/run.js')
  if (existsSync(runner)) await (await import(pathToFileURL(runner).href)).compile()
  const load = (file: string) => import(pathToFileURL(resolve(directory, 'bench/dist/bench/lib', file)).href)
  const [stack, world, feed] = await Promise.all(['stack.js', 'world.js', 'feed-database.js'].map(load))
  return { ...stack, ...world, ...feed }
}

async function compare<Subject>(
  open: (bench: Bench) => Promise<{ subject: Subject; close: () => Promise<void> }>,
  measuresByName: Measure<Subject>,
): Promise<void> {
  const wanted = options.only.split(',')
  const measures = Object.entries(measuresByName).filter(([name]) => wanted.some((part) => name.includes(part)))
  if (measures.length === 0) return
  const after = await open(benches.after)
  const before = await open(benches.before)
  try {
    for (const [name, measure] of measures) {
      const [measureAfter, measureBefore] = [() => measure(after.subject), () => measure(before.subject)]
      await measureAfter()
      await measureBefore()
      const logs: number[] = []
      const sums = { ours: 0, theirs: 0 }
      for (let round = 0; round < rounds; round += 1) {
        const [a, b, c, d] = [await measureAfter(), await measureBefore(), await measureBefore(), await measureAfter()]
        logs.push(Math.log((a + d) / (b + c)))
        sums.ours += a + d
        sums.theirs += b + c
      }
      const rate = (sum: number) => (sum / rounds / 2).toFixed(1).padStart(9)
      console.log(`${name.padEnd(60)} ${rate(sums.theirs)} ${rate(sums.ours)} /s  ${show(logs)}`)
    }
  } finally {
    await after.close()
    await before.close()
  }
}

/**
 * Formats the geometric mean with its 95% confidence interval. 2.36 is Student's t for eight rounds; more rounds have a
 * smaller value.
 */
function show(logs: number[]): string {
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1)
  const margin = 2.36 * Math.sqrt(variance / logs.length)
  const [middle, low, high] = [mean, mean - margin, mean + margin].map((log) => Math.exp(log).toFixed(3))
  return `${middle} (${low} to ${high})`
}

function depositsAt(connections: number): Measure<Run> {
  return {
    [`deposits, ${connections} connections`]: (run) => deposits(run, run.world.spread, connections),
    [`deposits without HTTP, ${connections} callers`]: (run) => bareDeposits(run, connections),
    [`no-op route, ${connections} connections`]: (run) => noop(run, connections),
  }
}

function transfers(): Measure<Run> {
  return {
    'bare posting': postBare,
    'transfers that need no vote': (run) => orderTransfers(run, '1'),
    'transfers that need three votes': (run) => orderTransfers(run, '20000'),
    'transfers by CPU, no vote, with hand-over and mails': (run) => workOfOrders(run, '1'),
    'transfers by CPU, three votes, with mails': (run) => workOfOrders(run, '20000'),
    votes: async (run) => {
      const perSecond = await castVotes(run)
      return perSecond.reduce((sum, rate) => sum + rate, 0) / perSecond.length
    },
  }
}

type Vault = { port: number } & Awaited<ReturnType<typeof ourFeed.fillVault>>

function reads(): Measure<Vault> {
  const year = 'from=2025-01-01T00:00:00.000Z&to=2026-01-01T00:00:00.000Z'
  const decade = 'from=2020-01-01T00:00:00.000Z&to=2030-01-01T00:00:00.000Z'
  const pages: Record<string, Page> = {
    'history of an administrator': { path: '/history?limit=20', by: 'administrator' },
    'history of a member': { path: '/history?limit=20', by: 'member' },
    'history of a member, with shared addresses': { path: '/history?limit=20&includeShared=true', by: 'member' },
    'outgoing history by status': { path: '/history?limit=20&direction=out&status=confirmed', by: 'administrator' },
    'balances of a member': { path: '/balances', by: 'member' },
    'balances in total': { path: '/balances?summary=true', by: 'administrator' },
    'report of activity by month': {
      path: `/reports/transaction_activity?${year}&groupBy=month`,
      by: 'administrator',
      connections: 1,
    },
    'report of exceptions': { path: `/reports/operations_exceptions?${year}`, by: 'administrator', connections: 1 },
  }
  const readsOfPages = Object.entries(pages).map(([name, page]) => [name, (vault: Vault) => read(vault, page)] as const)
  return {
    ...Object.fromEntries(readsOfPages),
    'balances of a member beside reports': async (vault) => {
      const report = getAs(vault.administrator, `/reports/transaction_activity?${decade}&groupBy=month`)
      const work = () => read(vault, { path: '/balances', by: 'member', connections: 1 })
      return (await besideReports({ port: vault.port, report }, work)).result
    },
  }
}

const getAs = (token: string, path: string) => toRequest('GET', `/api/v1/vaults/main-vault${path}`, bearer(token), null)

type Page = { path: string; by: 'member' | 'administrator'; connections?: number }

async function read({ port, ...tokens }: Vault, { path, by, connections = 8 }: Page): Promise<number> {
  const request = getAs(tokens[by], path)
  const { answers, latencies } = await loadClosed({ port, connections, seconds, next: () => request })
  if (Object.keys(answers).join() !== '200') throw new Error(`${path} was answered ${JSON.stringify(answers)}`)
  return (1_000 * connections) / (latencies.reduce((sum, latency) => sum + latency, 0) / latencies.length)
}
