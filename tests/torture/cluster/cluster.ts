import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../../server/src/testing/random.ts'
import { assertNothingHalf, assertSoundBooks, readSeen } from '../checks.ts'
import { assertNoGap, assertNoneTwice, assertPaidOnce } from '../flight/payments.ts'
import { createLoad, type Load, type Observe } from '../load.ts'
import type { Fault } from './faults.ts'
import { type Stage, type StageOptions, setStage } from './stage.ts'

/** One cycle of the table of `docs/availability.md`. */
export type Cycle = {
  fault: string
  transfers: number
  votes: number
  unanswered: number
  repeated: number
  /** The longest time without an acknowledged change, and without an answered read. */
  writesBackSeconds: number
  readsBackSeconds: number
  slowestSeconds: number
  /** From the beginning of the fault until Patroni names another leader; null when the fault does not wait for one. */
  successorSeconds: number | null
  seconds: number
}

export type Result = { cycles: Cycle[]; transfers: number; votes: number; payments: number; deposits: number }

/** Acknowledged effects that the books do not have, and those of them that the chain has paid. */
type Lost = { transfers: number; paid: number; votes: number }

export class ClusterViolation extends Error {
  readonly lost: Lost | null
  constructor({ name }: Fault, cause: unknown, lost: Lost | null) {
    const count =
      lost === null
        ? 'the losses could not be counted'
        : `${lost.transfers} acknowledged transfers are lost, of which ${lost.paid} are paid on the chain, and ${lost.votes} votes`
    super(`${name}: ${cause instanceof Error ? cause.message : cause}; ${count}`, { cause })
    this.name = 'ClusterViolation'
    this.lost = lost
  }
}

type Options = StageOptions & {
  seed: number
  faults: Fault[]
  /** The time that an answer may take. */
  answerMillisecondsMax?: number
  /** Changes the cluster before the first cycle. A control removes a protection with it. */
  configuration?: object | undefined
  print?: (line: string) => void
}

const coin = 10n ** 18n
const funding = 1_000_000n * coin
const initiators = 6
const pauseMilliseconds = 150
const depositsOfCycle = 5
const calmMilliseconds = 2_000
const settleMillisecondsMax = 150_000
const claimMillisecondsMax = 60_000
const claimMillisecondsMin = 10_000
const readMilliseconds = 200

/**
 * Runs the service on a cluster of real parts under load and does something to it, once a cycle. When everything runs again,
 * each acknowledged order and vote must be there once and paid once on the chain, the books must be sound, and a repeated
 * request must have its first answer.
 *
 * @throws at the first violation, with the number of acknowledged effects that are gone
 */
export async function tortureCluster({
  seed,
  faults,
  configuration,
  answerMillisecondsMax = 5_000,
  print = () => {},
  ...options
}: Options): Promise<Result> {
  const random = createRandom(seed)
  const stage = await setStage(options)
  const watch = createWatch(answerMillisecondsMax)
  let load: Load | null = null
  try {
    load = await prepareLoad(stage, random, watch.observe)
    if (configuration !== undefined) await stage.cluster.configure(configuration)
    const result: Result = { cycles: [], transfers: 0, votes: 0, payments: 0, deposits: stage.world.addresses.length }
    for (const [index, fault] of faults.entries()) {
      if (fault.needsDisks === true && stage.cluster.machines.some(({ fillDisk }) => fillDisk === null)) {
        print(`${fault.name}: left out, because this user may not make file systems`)
        continue
      }
      const scene = { stage, load, random, watch }
      try {
        const cycle = await runCycle(scene, fault, result)
        result.cycles.push(cycle)
        print(`${`${index + 1}`.padStart(4)}/${faults.length}  ${lineOf(cycle)}`)
      } catch (error) {
        throw new ClusterViolation(fault, error, await countLost(scene))
      }
    }
    for (const noun of ['ledger', 'audit']) await stage.command(noun, 'verify')
    return result
  } finally {
    watch.close()
    load?.abandon()
    await stage.close()
  }
}

const lineOf = (cycle: Cycle) =>
  [
    `${cycle.fault.padEnd(40)} acknowledged ${cycle.transfers} transfers, ${cycle.votes} votes; ${cycle.unanswered} unanswered`,
    `${cycle.repeated} asked again; changes back after ${cycle.writesBackSeconds.toFixed(1)} s`,
    `reads ${cycle.readsBackSeconds.toFixed(1)} s`,
    ...(cycle.successorSeconds === null ? [] : [`another leader ${cycle.successorSeconds.toFixed(1)} s`]),
    `slowest answer ${cycle.slowestSeconds.toFixed(1)} s; ${cycle.seconds.toFixed(0)} s`,
  ].join(', ')

type Scene = { stage: Stage; load: Load; random: Random; watch: Watch }

async function runCycle({ stage, load, random, watch }: Scene, fault: Fault, result: Result): Promise<Cycle> {
  const begun = performance.now()
  const { chain, world, cluster, books, wallet, nodes } = stage
  for (let i = 0; i < depositsOfCycle; i += 1)
    await chain.pay(world.addresses[random.below(world.addresses.length)]!.address, BigInt(1 + random.below(9)) * coin)
  result.deposits += depositsOfCycle
  const stopFlow = chain.flow()
  load.begin()
  await sleep(calmMilliseconds)
  load.assertNoFault()
  const stopWatch = watch.begin(stage)
  await stage.reconnect()
  const struckAt = performance.now()
  await fault.strike(stage)
  const successorAt = stage.takeSuccessorAt()
  await cluster.waitUntilWhole()
  await sleep(calmMilliseconds)
  await load.end()
  const watched = await stopWatch()
  await stage.reconnect()
  let claimsEndAt = Date.now() + claimMillisecondsMin
  await until('all transfers to be over', async () => {
    load.assertNoFault()
    await assertNoneTwice(chain, world)
    if (Date.now() > claimsEndAt) {
      await endOldClaims(stage)
      claimsEndAt = Date.now() + claimMillisecondsMin
    }
    return await isSettled(stage, result.deposits)
  }).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${await describeOpen(stage)}`, { cause: error })
  })
  await stopFlow()
  for (const process of [...nodes, wallet]) process.assertLives()
  // Taken before the rows are read; repeated requests keep their bodies.
  const { transfers, votes } = load.acknowledged
  const repeated = await load.askAgain()
  await assertNothingHalf(books)
  await assertNoGap(wallet)
  result.payments = await assertPaidOnce({ stack: books, wallet, chain, world, acknowledged: load.acknowledged })
  await assertSoundBooks(books)
  await assertNoOldTransaction(stage)
  watched.assertAnswers(fault)
  const cycle = {
    fault: fault.name,
    transfers: transfers.size - result.transfers,
    votes: votes.size - result.votes,
    unanswered: load.unanswered(),
    repeated,
    ...watched.times,
    successorSeconds: successorAt === null ? null : (successorAt - struckAt) / 1000,
    seconds: (performance.now() - begun) / 1000,
  }
  result.transfers = transfers.size
  result.votes = votes.size
  return cycle
}

async function prepareLoad({ world, chain, books, cluster }: Stage, random: Random, observe: Observe): Promise<Load> {
  for (const { address } of world.addresses) await chain.pay(address, funding)
  const stop = chain.flow()
  await until('the first deposits', async () => {
    const [row] = await books.sql('select count(*)::int from deposits')
    return row.count === world.addresses.length
  })
  await stop()
  const crowd = { depositors: 0, initiators, pauseMilliseconds: () => pauseMilliseconds }
  return createLoad(world, () => cluster.nodesUrl, random, crowd, observe)
}

/** Connections are back to normal: none waits for a standby, and none holds a transaction. */
async function assertNoOldTransaction({ books }: Stage): Promise<void> {
  const rows = await books.sql(
    `select application_name, state, wait_event, query from pg_stat_activity
     where backend_type = 'client backend' and xact_start < now() - interval '10 seconds'`,
  )
  if (rows.length > 0) throw new Error(`A transaction has not ended: ${JSON.stringify(rows[0])}`)
}

/** Ends older claims now instead of after up to a minute, because nobody works on them. */
async function endOldClaims({ books }: Stage): Promise<void> {
  const isOld = (column: string) =>
    `${column} between now() and now() + interval '${claimMillisecondsMax - claimMillisecondsMin} milliseconds'`
  await books.sql(
    `update deliveries set next_attempt_at = now() where queue in ('hand-over', 'follow') and ${isOld('next_attempt_at')}`,
  )
  await books.sql(`update followings set ask_at = now() where ${isOld('ask_at')}`)
}

/** Names what has not ended, for the message of a cycle that does not end. */
async function describeOpen({ books, wallet, chain }: Stage): Promise<string> {
  const service = await books.sql(
    `select t.phase, d.queue, d.next_attempt_at, v.code from transfers t join vaults v on v.id = t.vault_id
     left join deliveries d on d.vault_id = t.vault_id and d.id = t.id where t.phase <> 'done' limit 3`,
  )
  const transfers = await wallet.sql(
    `select status, resend, next_attempt_at from wallet.transfers where status in ('queued', 'broadcast') or resend limit 3`,
  )
  const events = await wallet.sql(
    'select attempts, next_attempt_at from wallet.webhook_deliveries where delivered_at is null limit 3',
  )
  const { height, waiting } = await chain.readHead()
  return JSON.stringify({ now: new Date(), height, waiting, service, transfers, events })
}

async function isSettled({ books, wallet }: Stage, deposits: number): Promise<boolean> {
  const [service] = await books.sql(
    `select (select count(*) from transfers where phase <> 'done')::int as open, (select count(*) from deposits)::int as deposits`,
  )
  if (service.open > 0 || service.deposits < deposits) return false
  const [{ open }] = await wallet.sql(
    `select (select count(*) from wallet.transfers where status in ('queued', 'broadcast') or resend)::int
       + (select count(*) from wallet.webhook_deliveries where delivered_at is null)::int as open`,
  )
  return open === 0
}

type Watched = {
  times: Pick<Cycle, 'writesBackSeconds' | 'readsBackSeconds' | 'slowestSeconds'>
  /** @throws when an answer was a 500, or took too long */
  assertAnswers(fault: Fault): void
}
type Watch = { observe: Observe; begin(stage: Stage): () => Promise<Watched>; close(): void }

/** Observes each answer to the clients, and sends reads of its own. */
function createWatch(answerMillisecondsMax: number): Watch {
  let gaps = { writes: createGap(), reads: createGap() }
  let slow: { milliseconds: number; what: string }[] = []
  let broken: string[] = []
  let isOver = false
  const see = (
    kind: 'writes' | 'reads',
    { status, text }: { status: number; text: string },
    milliseconds: number,
    path: string,
  ) => {
    if (status < 300) gaps[kind].note()
    if (status === 500) broken.push(`${path}: ${text.slice(0, 300)}`)
    slow.push({ milliseconds, what: `${path}: ${status} ${text.slice(0, 120)} after ${Math.round(milliseconds)} ms` })
  }
  return {
    close() {
      isOver = true
    },
    observe: (reply, milliseconds, { path }) => see('writes', reply, milliseconds, path),
    begin({ cluster, world }) {
      gaps = { writes: createGap(), reads: createGap() }
      slow = []
      broken = []
      isOver = false
      const path = '/api/v1/users/me'
      const reading = (async () => {
        while (!isOver) {
          const askedAt = performance.now()
          const reply = await read(cluster.nodesUrl + path, world.owner.token)
          if (reply !== null) see('reads', reply, performance.now() - askedAt, path)
          await sleep(readMilliseconds)
        }
      })()
      return async () => {
        isOver = true
        await reading
        slow.sort((left, right) => right.milliseconds - left.milliseconds)
        return {
          times: {
            writesBackSeconds: gaps.writes.longest() / 1000,
            readsBackSeconds: gaps.reads.longest() / 1000,
            slowestSeconds: (slow[0]?.milliseconds ?? 0) / 1000,
          },
          assertAnswers(fault) {
            if (broken.length > 0) throw new Error(`${broken.length} answers with 500, such as ${broken[0]}`)
            const late = slow.filter(({ milliseconds }) => milliseconds > answerMillisecondsMax)
            if (late.length > 0 && fault.slow === undefined) {
              throw new Error(`${late.length} answers came late, such as ${late[0]!.what}`)
            }
          },
        }
      }
    },
  }
}

function createGap() {
  let last = performance.now()
  let longest = 0
  const note = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  return { note, longest: () => longest }
}

async function read(url: string, token: string): Promise<{ status: number; text: string } | null> {
  try {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    return { status: response.status, text: await response.text() }
  } catch {
    return null
  }
}

async function countLost({ stage, load }: Scene): Promise<Lost | null> {
  try {
    await stage.cluster.waitUntilWhole()
    await stage.reconnect()
    const seen = await readSeen(stage.books)
    const transfers = new Set(seen.transfers.map(({ to_address }) => to_address))
    const votes = new Set(seen.votes.map(({ subject_id, user_id }) => `${subject_id} ${user_id}`))
    const lost = [...load.acknowledged.transfers.keys()].filter((key) => !transfers.has(key))
    const paid = new Set((await stage.chain.readMined()).map(({ to }) => to))
    return {
      transfers: lost.length,
      paid: lost.filter((address) => paid.has(address.toLowerCase())).length,
      votes: [...load.acknowledged.votes.keys()].filter((key) => !votes.has(key)).length,
    }
  } catch {
    return null
  }
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + settleMillisecondsMax
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}`)
    await sleep(250)
  }
}
