import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../../server/src/testing/random.ts'
import { type Breakpoint, breakpointOf, installTriggers, setTrigger, waitUntilCaught } from '../breakpoints.ts'
import { assertNothingHalf, assertSoundBooks } from '../checks.ts'
import { createLoad, type Load } from '../load.ts'
import { nameOf, planAll } from '../plan.ts'
import { anyBackend, restartNode, type Stack, startStack } from '../stack.ts'
import { createWorld, type World } from '../world.ts'
import { type Chain, startChain } from './chain.ts'
import { assertNoGap, assertNoneTwice, assertPaidOnce } from './payments.ts'
import { type Edge, type Point, points } from './points.ts'
import { type Relay, startRelay } from './relay.ts'
import { createWalletProcess, type WalletProcess, walletToken, webhookSecret } from './wallet-process.ts'

/**
 * The victims, in turn; every second victim is the process of the wallet. `overtaken`: another process starts while the
 * first one is stopped.
 */
const turns = [
  ...(['wallet', 'node', 'wallet asleep', 'database', 'wallet', 'machine'] as const),
  ...(['wallet overtaken', 'node asleep'] as const),
]
export type Victim = (typeof turns)[number]
export type Blow = { victim: Victim; point: Point | null }

export type Result = {
  cycles: number
  transfers: number
  votes: number
  deposits: number
  payments: number
  /** Transfers in flight when something was killed: the fewest and the most of all cycles. */
  inFlight: [number, number]
  unanswered: number
  repeated: number
  seconds: number
}

type Options = {
  serverDir: string
  /** The folder of the built wallet: it holds `dist`. */
  walletDir: string
  seed: number
  blows: Blow[]
  /** The number of transfers that are in flight before a process is killed. */
  inFlight: number
  /** A data directory with a migrated cluster to start with; without it the node migrates an empty one. */
  clusterDir?: string
  print?: (line: string) => void
}

const coin = 10n ** 18n
const funding = 1_000_000n * coin
const depositsOfCycle = 5
/** One in six orders is vetoed. */
const orderedPerFlight = 1.2
const sleepMilliseconds = 2_500
const settleMillisecondsMax = 120_000
/** A look connects to the wallet's database anew and costs both sides some milliseconds of computing. */
const lookMilliseconds = 250

type Scene = {
  stack: Stack
  wallet: WalletProcess
  chain: Chain
  world: World
  load: Load
  random: Random
  edges: Record<Edge, Relay>
  /** Kill the wallet processes that another process overtook in this cycle. */
  ends: (() => Promise<void>)[]
}

export const planFlightBlows = (cycles: number, seed: number): Blow[] =>
  planAll({ cycles, seed, points, victims: turns })

/**
 * Lets the service and the reference wallet pay on a chain that stands still, until so many transfers are in flight,
 * and then kills or stops one of them, once a cycle. After each cycle the chain mines; each acknowledged transfer must
 * be paid by exactly one transaction, nonces have no gap, and the ledger has the balance of the chain for each address.
 *
 * @throws at the first violation
 */
export async function tortureInFlight({
  serverDir,
  walletDir,
  seed,
  blows,
  inFlight,
  clusterDir,
  print = () => {},
}: Options): Promise<Result> {
  const begun = performance.now()
  const random = createRandom(seed)
  const closing: (() => Promise<void>)[] = []
  const kept = async <Part>(part: Promise<Part>, close: (part: Part) => Promise<void>) => {
    const made = await part
    closing.unshift(() => close(made))
    return made
  }
  try {
    const chain = await kept(startChain(), (made) => made.stop())
    const started = startStack(serverDir, { WALLET_WEBHOOK_SECRET: webhookSecret }, clusterDir)
    const stack = await kept(started, (made) => made.stop())
    await stack.startNode()
    const relay = (target: () => string | null) => kept(startRelay(target), (made) => made.close())
    const edges = { chain: await relay(() => chain.url), webhook: await relay(stack.nodeUrl) }
    const around = { walletDir, stack, chainId: chain.chainId, chainUrl: edges.chain.url }
    const webhookUrl = `${edges.webhook.url}/webhooks/wallet`
    const wallet = await kept(createWalletProcess({ ...around, webhookUrl }), (made) => made.stop())
    await wallet.start()
    const front = await relay(wallet.url)
    const world = await createWorld(stack, { url: front.url, token: walletToken })
    await fund(stack, chain, world)
    await installTriggers(triggersOf('service'), stack.sql)
    await installTriggers(triggersOf('wallet'), wallet.sql)
    const ends: Scene['ends'] = []
    closing.unshift(() => endAll(ends))
    let isEnough = () => false
    // Clients hurry until they have ordered enough, and then go on slowly.
    const crowd = { depositors: 0, initiators: 12, pauseMilliseconds: () => (isEnough() ? 3_000 : 1) }
    const load = await createLoad(world, stack.nodeUrl, random, crowd)
    const scene = { stack, wallet, chain, world, load, random, edges: { ...edges, wallet: front }, ends }
    const result: Result = {
      ...{ cycles: 0, transfers: 0, votes: 0, deposits: 0, payments: 0 },
      ...{ inFlight: [Number.POSITIVE_INFINITY, 0], unanswered: 0, repeated: 0, seconds: 0 },
    }
    for (const blow of blows) {
      const since = performance.now()
      const enough = load.acknowledged.transfers.size + inFlight * orderedPerFlight
      isEnough = () => load.acknowledged.transfers.size >= enough
      const cycle = await runCycle(scene, blow, inFlight)
      result.cycles += 1
      result.transfers = load.acknowledged.transfers.size
      result.votes = load.acknowledged.votes.size
      result.deposits += depositsOfCycle
      result.payments = cycle.payments
      result.inFlight = [Math.min(result.inFlight[0], cycle.open), Math.max(result.inFlight[1], cycle.open)]
      result.unanswered += load.unanswered()
      result.repeated += cycle.repeated
      const seconds = ((performance.now() - since) / 1000).toFixed(1)
      print(`${`${result.cycles}`.padStart(4)}/${blows.length}  ${lineOf(blow, cycle, load)}; ${seconds} s`)
    }
    for (const noun of ['ledger', 'audit']) await stack.command(noun, 'verify')
    result.seconds = (performance.now() - begun) / 1000
    return result
  } finally {
    for (const close of closing) await close()
  }
}

const lineOf = ({ victim, point }: Blow, { open, payments, repeated }: Cycle, { acknowledged, unanswered }: Load) =>
  `${victim.padEnd(16)} at ${nameOf(point).padEnd(44)} ${open} in flight; acknowledged` +
  ` ${acknowledged.transfers.size} transfers, ${acknowledged.votes.size} votes; ${payments} paid;` +
  ` ${unanswered()} unanswered, ${repeated} asked again`

const triggersOf = (database: 'service' | 'wallet') =>
  points.map(({ at }) => ('database' in at && at.database === database ? at.trigger : null))

async function fund(stack: Stack, chain: Chain, { addresses }: World): Promise<void> {
  for (const { address } of addresses) await chain.pay(address, funding)
  const stop = chain.flow()
  await until('the first deposits', async () => (await countOf(stack, 'deposits')) === addresses.length)
  await stop()
}

type Cycle = { open: number; payments: number; repeated: number }

async function runCycle(scene: Scene, { victim, point }: Blow, inFlight: number): Promise<Cycle> {
  const { stack, wallet, chain, world, load, random } = scene
  const depositsBefore = await countOf(stack, 'deposits')
  for (let i = 0; i < depositsOfCycle; i += 1)
    await chain.pay(world.addresses[random.below(world.addresses.length)]!.address, BigInt(1 + random.below(9)) * coin)
  load.begin()
  await until('enough transfers in flight', async () => {
    load.assertNoFault()
    return (await countInFlight(wallet)) >= inFlight
  })
  const breakpoint = point === null ? null : await arm(scene, point)
  const open = await countInFlight(wallet)
  const isFlowing = point === null ? random.below(2) === 0 : point.needsBlock
  let stopFlow = isFlowing ? chain.flow() : null
  const caught = breakpoint === null ? null : await waitUntilCaught(breakpoint, nameOf(point), load.assertNoFault)
  if (breakpoint === null) await sleep(300 + random.below(900))
  await strike(scene, victim, { breakpoint, backendPid: caught?.backendPid ?? null })
  await load.end()
  stopFlow ??= chain.flow()
  await until('all transfers to be over', async () => await isSettled(scene, depositsBefore + depositsOfCycle))
  await stopFlow()
  stack.assertNodeLives()
  wallet.assertLives()
  await endAll(scene.ends)
  const repeated = await load.askAgain()
  await assertNothingHalf(stack)
  await assertNoGap(wallet)
  const payments = await assertPaidOnce({ stack, wallet, chain, world, acknowledged: load.acknowledged })
  await assertSoundBooks(stack)
  return { open, payments, repeated }
}

function arm({ stack, wallet, edges }: Scene, point: Point): Promise<Breakpoint> {
  const { at } = point
  if ('edge' in at) return Promise.resolve(breakpointOf(edges[at.edge].stopAt(at.stop)))
  return setTrigger(points.indexOf(point), at.database === 'wallet' ? wallet.databaseUrl() : stack.databaseUrl())
}

type Struck = { breakpoint: Breakpoint | null; backendPid: number | null }

async function strike(scene: Scene, victim: Victim, { breakpoint, backendPid }: Struck): Promise<void> {
  const { stack, wallet, random } = scene
  const assertWhole = async () => {
    await assertNothingHalf(stack)
    await assertNoGap(wallet)
  }
  const release = async () => {
    await breakpoint?.release()
    await assertWhole()
  }
  if (victim === 'wallet') {
    await wallet.kill()
    await release()
    await wallet.start()
  } else if (victim === 'node') {
    await stack.killNode()
    await release()
    await restartNode(stack)
  } else if (victim === 'machine') {
    await Promise.all([stack.killMachine(), wallet.kill()])
    await release()
    await Promise.all([restartNode(stack), wallet.start()])
  } else if (victim === 'database') {
    await stack.killDatabase(backendPid ?? (await anyBackend(stack, random)))
    await release()
  } else {
    const wake = victim === 'node asleep' ? stack.freezeNode() : wallet.freeze()
    await release()
    // The new process may wait for locks of the stopped process.
    const overtaking = victim === 'wallet overtaken' ? wallet.overtake() : null
    overtaking?.catch(() => {})
    await sleep(sleepMilliseconds)
    await assertWhole()
    wake()
    if (overtaking !== null) scene.ends.push(await overtaking)
  }
  if (victim === 'wallet' || victim === 'machine') await endLeases(wallet)
}

async function endAll(ends: Scene['ends']): Promise<void> {
  for (const end of ends.splice(0)) await end()
}

/** Ends the claims of the dead process now instead of after up to half a minute. */
async function endLeases(wallet: WalletProcess): Promise<void> {
  await wallet.sql(`update wallet.transfers set next_attempt_at = now() where status = 'queued' or resend`)
  await wallet.sql('update wallet.webhook_deliveries set next_attempt_at = now() where delivered_at is null')
}

async function countInFlight(wallet: WalletProcess): Promise<number> {
  const [row] = await wallet.sql(
    `select count(*)::int from wallet.transfers where status = 'broadcast' and block_number is null`,
  )
  return row.count
}

async function isSettled({ stack, wallet, chain, world, load }: Scene, deposits: number): Promise<boolean> {
  load.assertNoFault()
  await assertNoneTwice(chain, world)
  const [service] = await stack.sql(`select count(*)::int as open from transfers where phase <> 'done'`)
  if (service.open > 0 || (await countOf(stack, 'deposits')) < deposits) return false
  const [{ open }] = await wallet.sql(
    `select (select count(*) from wallet.transfers where status in ('queued', 'broadcast') or resend)::int
       + (select count(*) from wallet.webhook_deliveries where delivered_at is null)::int as open`,
  )
  return open === 0
}

async function countOf(stack: Stack, table: string): Promise<number> {
  const [row] = await stack.sql(`select count(*)::int from ${table}`)
  return row.count
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + settleMillisecondsMax
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}`)
    await sleep(lookMilliseconds)
  }
}
