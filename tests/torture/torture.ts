import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../server/src/testing/random.ts'
import {
  type Breakpoint,
  breakpointOf,
  type Caught,
  installTriggers,
  setTrigger,
  waitUntilCaught,
} from './breakpoints.ts'
import { assertAcknowledged, assertNothingHalf, assertSoundBooks } from './checks.ts'
import { createLoad, type Load } from './load.ts'
import { nameOf, planAll } from './plan.ts'
import { type Point, points } from './points.ts'
import { anyBackend, restartNode, type Stack, startStack } from './stack.ts'
import { startWallet, type Wallet } from './wallet.ts'
import { createWorld } from './world.ts'

const victims = ['node', 'database', 'machine'] as const
export type Victim = (typeof victims)[number]
/** One cycle: what is killed, and at which point; a null point is a random moment. */
export type Blow = { victim: Victim; point: Point | null }

export type Result = {
  cycles: number
  deposits: number
  transfers: number
  votes: number
  broadcasts: number
  /** Requests without an answer, or with an inconclusive one. */
  unanswered: number
  /** Answered requests that were repeated after a kill. */
  repeated: number
  seconds: number
}

type Options = {
  /** The folder of the built server: it holds `dist`. */
  serverDir: string
  seed: number
  blows: Blow[]
  /** False: commits are answered before they are on disk, which no production system may do. */
  isDurable?: boolean
  /** A data directory with a migrated cluster to start with; without it the node migrates an empty one. */
  clusterDir?: string
  print?: (line: string) => void
}

/** A node that was started again asks about an order within seconds; a machine that runs other tests beside is slower. */
const sentAgainMillisecondsMax = 30_000

/**
 * Runs the service under load and kills it, or PostgreSQL, or both, once a cycle. After each kill no row may be incomplete;
 * once everything is running again and every client has its answer, what was acknowledged must exist exactly once, the
 * ledger and the audit log must verify and the wallet must have broadcast no transfer twice.
 *
 * @throws at the first violation
 */
export async function torture({
  serverDir,
  seed,
  blows,
  isDurable = true,
  clusterDir,
  print = () => {},
}: Options): Promise<Result> {
  const begun = performance.now()
  const random = createRandom(seed)
  const wallet = await startWallet()
  const stack = await startStack(serverDir, {}, clusterDir)
  try {
    await stack.startNode()
    const triggers = points.map(({ at }) => (typeof at === 'string' ? null : at))
    await installTriggers(triggers, stack.sql)
    const load = await createLoad(await createWorld(stack, wallet), stack.nodeUrl, random)
    if (!isDurable) {
      // Commits stay in memory for this long, so that a kill loses some even on a slow machine.
      await stack.sql(
        `do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$`,
      )
      await stack.sql(`alter system set wal_writer_delay = '10s'`)
      await stack.sql('select pg_reload_conf()')
      // Existing connections keep the setting that they started with.
      await stack.killNode()
      await stack.startNode()
    }
    const result: Result = {
      cycles: 0,
      deposits: 0,
      transfers: 0,
      votes: 0,
      broadcasts: 0,
      unanswered: 0,
      repeated: 0,
      seconds: 0,
    }
    for (const blow of blows) {
      const since = performance.now()
      const repeated = await runCycle({ stack, wallet, load, random }, blow)
      const { deposits, transfers, votes } = load.acknowledged
      Object.assign(result, {
        cycles: result.cycles + 1,
        deposits: deposits.size,
        transfers: transfers.size,
        votes: votes.size,
        unanswered: result.unanswered + load.unanswered(),
        repeated: result.repeated + repeated,
      })
      print(
        `${`${result.cycles}`.padStart(4)}/${blows.length}  ${blow.victim.padEnd(8)} at ${nameOf(blow.point).padEnd(38)}` +
          ` acknowledged ${deposits.size} deposits, ${transfers.size} transfers, ${votes.size} votes;` +
          ` ${load.unanswered()} unanswered, ${repeated} asked again; ${((performance.now() - since) / 1000).toFixed(1)} s`,
      )
    }
    await settleEverything(stack, wallet, load)
    return { ...result, broadcasts: wallet.log.length, seconds: (performance.now() - begun) / 1000 }
  } finally {
    await stack.stop()
    await wallet.close()
  }
}

export const planBlows = (cycles: number, seed: number): Blow[] => planAll({ cycles, seed, points, victims })

type Scene = { stack: Stack; wallet: Wallet; load: Load; random: Random }

async function runCycle(scene: Scene, { victim, point }: Blow): Promise<number> {
  const { stack, wallet, load, random } = scene
  load.begin()
  const breakpoint = point === null ? null : await arm(point, stack, wallet)
  const caught =
    breakpoint === null
      ? await pass(300 + random.below(900))
      : await waitUntilCaught(breakpoint, nameOf(point), load.assertNoFault)

  if (victim === 'node') await stack.killNode()
  if (victim === 'machine') await stack.killMachine()
  if (victim === 'database') await stack.killDatabase(caught.backendPid ?? (await anyBackend(stack, random)))
  // A request in transit is delayed: it may arrive after its node is dead, and after the next node has queried the status.
  const isDelayed = point?.at === 'before it takes an order' && victim !== 'database'
  if (!isDelayed) await breakpoint?.release()
  await assertNothingHalf(stack)

  if (victim !== 'database') await restartNode(stack)
  if (isDelayed) {
    await waitUntilSentAgain(wallet, caught.toAddress!)
    await breakpoint!.release()
  }
  await load.end()
  stack.assertNodeLives()
  const repeated = await load.askAgain()
  await assertNothingHalf(stack)
  await assertAcknowledged(stack, wallet, load.acknowledged)
  await assertSoundBooks(stack)
  return repeated
}

function arm(point: Point, stack: Stack, wallet: Wallet): Promise<Breakpoint> {
  if (typeof point.at !== 'string') return setTrigger(points.indexOf(point), stack.databaseUrl())
  return Promise.resolve(breakpointOf(wallet.stopAt(point.at)))
}

async function pass(milliseconds: number): Promise<Caught> {
  await sleep(milliseconds)
  return { backendPid: null, toAddress: null }
}

async function waitUntilSentAgain(wallet: Wallet, toAddress: string): Promise<void> {
  const deadline = Date.now() + sentAgainMillisecondsMax
  while (wallet.ordersFor(toAddress) < 2) {
    if (Date.now() > deadline) throw new Error(`The order for ${toAddress} was lost, and nobody sent it again`)
    await sleep(10)
  }
}

/** After the last cycle every transfer reaches a final status. */
async function settleEverything(stack: Stack, wallet: Wallet, load: Load): Promise<void> {
  await stack.killNode()
  await restartNode(stack)
  const deadline = Date.now() + 120_000
  for (;;) {
    const [{ open }] = await stack.sql(`select count(*)::int as open from transfers where phase <> 'done'`)
    if (open === 0) break
    if (Date.now() > deadline) throw new Error(`${open} transfers do not come to an end`)
    await sleep(100)
  }
  await assertAcknowledged(stack, wallet, load.acknowledged)
  // The commands of an operator, once; the cycles use the functions behind them.
  for (const noun of ['ledger', 'audit']) await stack.command(noun, 'verify')
}
