import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrate } from '../server/src/db/migrate.ts'
import { startEmbeddedPostgres } from '../server/src/embedded-postgres/start.ts'
import { buildProject } from '../server/src/testing/build-project.ts'
import { bundledProgram } from '../server/src/testing/bundled-program.ts'
import { copyEmptyCluster } from '../server/src/testing/empty-cluster.ts'
import { type Victim as FlightVictim, tortureInFlight } from './torture/flight/flight.ts'
import { points as flightPoints } from './torture/flight/points.ts'
import { points } from './torture/points.ts'
import { planBlows, torture } from './torture/torture.ts'
import { buildWithout, guards } from './torture/unguarded.ts'

/*
 * The short form of the crash harness; `npm run torture` is the long one, and docs/torture.md describes both. Builds with
 * one guard of the service switched off prove that the harness finds violations.
 */

const cycles = 4
const seed = 7
const inFlight = 12
/** The compiled server, of which builds without a guard are made. */
const compiledDir = fileURLToPath(new URL('../server', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'strongroom-crash-'))
const [serverDir, walletDir] = [join(folder, 'server'), join(folder, 'wallet')]
/** A cluster as the migrations leave it, which each stack copies. */
const clusterDir = join(folder, 'cluster')

beforeAll(async () => {
  // The compiled server runs as a process of its own, as in production.
  buildProject('build:server')
  buildProject('build:wallet')
  const server = await bundledProgram('server/dist/cli/cli.js')
  writeProgram(join(serverDir, 'bin/strongroom.js'), server)
  writeProgram(join(serverDir, 'dist/main.js'), server, 'start')
  writeProgram(join(walletDir, 'bin/strongroom-wallet.js'), await bundledProgram('wallet/dist/cli.js'))
  await makeCluster()
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Migrating a cluster takes seconds of computing, and a copy of it a fraction of one. */
async function makeCluster(): Promise<void> {
  mkdirSync(clusterDir)
  copyEmptyCluster(clusterDir)
  const postgres = await startEmbeddedPostgres({ dataDir: clusterDir, fast: true })
  await migrate(postgres.url).finally(postgres.stop)
}

/** Each kill is followed by a start, which takes a third of the time when the program is joined to one file. */
function writeProgram(path: string, bundled: string, ...words: string[]): void {
  mkdirSync(join(path, '..'), { recursive: true })
  const lines = [`process.argv.push(...${JSON.stringify(words)})`, `void import('${pathToFileURL(bundled)}')`]
  writeFileSync(path, `${lines.join('\n')}\n`)
}

it('T5 T20 T22 T23 T53 kill -9 of service, database or both under load loses, doubles and halves nothing', async () => {
  const result = await torture({ serverDir, clusterDir, seed, blows: planBlows(cycles, seed) })
  expect(result.cycles).toBe(cycles)
  // So much happened in each cycle, on the slowest machine that was seen.
  const floor = { deposits: 16.6, transfers: 3.3, votes: 1.6, broadcasts: 1.6, unanswered: 1.6, repeated: 16.6 }
  for (const [name, least] of Object.entries(floor)) {
    expect(result[name as keyof typeof floor], name).toBeGreaterThan(least * cycles)
  }
})

it('T20 T22 T23 the wallet killed, stopped and overtaken with transfers in flight pays each once and leaves no gap', async () => {
  const blows = [
    flightBlow('wallet', 'signing', 'the commit'),
    flightBlow('wallet overtaken', 'broadcast', 'transactions are on their way'),
  ]
  const result = await tortureInFlight({ serverDir, walletDir, clusterDir, seed, blows, inFlight })
  expect(result).toMatchObject({ cycles: blows.length, deposits: 5 * blows.length })
  expect(result.inFlight[0]).toBeGreaterThanOrEqual(inFlight)
  expect(result.payments).toBeGreaterThanOrEqual(inFlight * blows.length)
})

it('T23 is noticed on the chain when the wallet is not told the id of the transfer', async () => {
  const build = buildWithout(guards.handOverById, compiledDir)
  const blows = [flightBlow('node', 'order', 'it is on its way')]
  const tortured = tortureInFlight({ serverDir: build.serverDir, walletDir, clusterDir, seed, blows, inFlight })
  await expect(tortured.finally(build.remove)).rejects.toThrow('was paid 2 times')
})

it.concurrent('T11 is noticed when deposits have no key', async () => {
  const blow = { victim: 'node', point: pointOf('deposit', 'the commit') } as const
  await expect(tortureWithout('deduplication', [blow])).rejects.toThrow(/credited twice|Another answer|there twice/)
})

it.concurrent('T52 is noticed when a deposit is answered before its commit', async () => {
  const blow = { victim: 'database', point: pointOf('deposit', 'the commit') } as const
  // A client that repeats a request gets another deposit: at once, or at the end, when all requests are repeated.
  const noticed = /Another answer .*"outcome":"credited"|^A deposit was credited twice/
  await expect(tortureWithout('answerAfterCommit', [blow])).rejects.toThrow(noticed)
})

it.concurrent('T23 is noticed when the wallet is not told the id of the transfer', async () => {
  const blow = { victim: 'node', point: pointOf('hand-over', 'the order is on its way') } as const
  await expect(tortureWithout('handOverById', [blow])).rejects.toThrow('was broadcast 2 times')
})

it.concurrent('T53 is noticed when commits are answered before they are on disk', async () => {
  const blow = { victim: 'machine', point: null } as const
  const tortured = torture({ serverDir, clusterDir, seed, blows: [blow, blow, blow], isDurable: false })
  await expect(tortured).rejects.toThrow(/^(Another answer|Expected|A deposit was credited twice)/)
})

it('a guard that is not where it is looked for is a fault of the test', () => {
  const gone = { name: 'gone', changes: [{ file: 'dist/main.js', guarded: 'no such guard', unguarded: '' }] }
  expect(() => buildWithout(gone, compiledDir)).toThrow('gone: found 0 times in dist/main.js, not once')
})

async function tortureWithout(guard: keyof typeof guards, blows: Parameters<typeof torture>[0]['blows']) {
  const build = buildWithout(guards[guard], compiledDir)
  // A migration is part of some guards: the node without it migrates an empty cluster.
  const isMigrated = guards[guard].changes.every(({ file }) => !file.endsWith('.sql'))
  try {
    return await torture({ serverDir: build.serverDir, seed, blows, ...(isMigrated ? { clusterDir } : {}) })
  } finally {
    build.remove()
  }
}

function flightBlow(victim: FlightVictim, part: string, name: string) {
  return { victim, point: named(flightPoints, part, name) }
}

const pointOf = (part: string, name: string) => named(points, part, name)

function named<Point extends { part: string; name: string }>(points: Point[], part: string, name: string): Point {
  const point = points.find((candidate) => candidate.part === part && candidate.name === name)
  if (point === undefined) throw new Error(`There is no point ${part}: ${name}`)
  return point
}
