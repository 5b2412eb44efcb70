import { retryAt } from '../../../db/claim.ts'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { followedAtOnceMax, walletChangesTogetherMax, walletChangesWaitSeconds } from '../../../lib/limits.ts'
import type { WalletClient } from '../../registry/wallet-service/client.ts'
import { walletOfVault } from '../../vaults/wallets/wallet-settings.ts'
import { after } from './claim.ts'
import type { WalletStatus } from './evaluate-status.ts'
import {
  askAboutAll,
  claimFollowings,
  type Following,
  LostClaimError,
  listStrangers,
  type Rest,
  restUntilNext,
} from './following.ts'
import { type Applied, applyReports } from './settle.ts'

type Connect = (deps: Deps, vaultId: string) => Promise<WalletClient>

/** The time for which a claim holds: the longest wait for an answer, and time to apply the answer. */
const leaseMilliseconds = (walletChangesWaitSeconds + 35) * 1_000
/** The pause between two questions, so that single changes are read together. */
const pauseMilliseconds = 100
/** The pauses after immediate answers without news, and after failures. */
const fruitlessPauses = { firstMilliseconds: 250, longestMilliseconds: 30_000 }
/** The number of fruitless answers in a row after which the transfers are asked about one by one until there is news. */
const fruitlessMax = 5
/** The pause until a wallet service that does not report its changes is asked again. */
const notOfferedMilliseconds = 600_000
/** The time until a claim of the delivery has ended: a transfer that is due later was not claimed. */
const claimedMilliseconds = 61_000

/** Follows the wallet services of the vaults that have transfers in flight, each on one node. */
type Follower = {
  /** Asks the wallet services that no node asks now, without waiting for their answers. Returns their number. */
  round(): Promise<number>
  /** Ends the waiting questions, and waits for the work in progress. */
  finish(): Promise<void>
}

/** @param again called when an answer was applied, with the milliseconds until there is work again */
export function createFollower(
  deps: Deps,
  connect: Connect = walletOfVault,
  again = (_milliseconds: number) => {},
): Follower {
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()

  return {
    async round() {
      if (stopping.signal.aborted) return 0
      const now = deps.clock()
      const claimed = await claimFollowings(deps.db, {
        now,
        leaseEndsAt: after(now, leaseMilliseconds),
        limit: Math.max(0, followedAtOnceMax - running.size),
      })
      for (const following of claimed) {
        const end = follow(deps, connect, following, stopping.signal)
          .then((askAt) => again(Math.max(0, askAt.getTime() - deps.clock().getTime())))
          .catch((error: unknown) => deps.log.error({ err: error, vaultId: following.vaultId }, 'changes not followed'))
          .finally(() => running.delete(end))
        running.add(end)
      }
      return claimed.length
    },
    async finish() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

/** Asks once, and applies the answer. Returns the time of the next question. */
async function follow(deps: Deps, connect: Connect, following: Following, signal: AbortSignal): Promise<Date> {
  const { vaultId, cursor } = following
  const begun = deps.clock()
  try {
    const wallet = await connect(deps, vaultId)
    const wait = cursor === null ? 0 : walletChangesWaitSeconds
    const answer = await wallet.listChanges({ after: cursor, wait }, signal)
    if (answer === null) return await forget(deps, following, notOfferedMilliseconds)
    if (answer === 'lost') {
      deps.log.warn({ vaultId }, 'the wallet service lost changes; every open transfer is asked about')
      return await forget(deps, following, pauseOf(following.fruitless))
    }
    const wasHeld = deps.clock().getTime() - begun.getTime() >= (wait * 1_000) / 2
    return await applyAnswer(deps, following, { ...answer, wasHeld })
  } catch (error) {
    if (error instanceof LostClaimError) return begun
    if (signal.aborted) return await release(deps, following)
    deps.log.warn({ err: error, vaultId }, 'changes of the wallet service are not known yet')
    return await restAfter(deps, following, { isFruitful: false, cursor, heardAt: null })
  }
}

type Answer = { statuses: Map<string, WalletStatus>; malformed: number; cursor: string; wasHeld: boolean }

/** Applies an answer in several transactions, of which the last one moves the cursor. */
async function applyAnswer(deps: Deps, following: Following, answer: Answer): Promise<Date> {
  const { vaultId } = following
  const { statuses, malformed, cursor, wasHeld } = answer
  const chunks = chunksOf([...statuses])
  const last = chunks.pop() ?? []
  const applied: Applied[] = []
  for (const chunk of chunks) applied.push(await applyChunk(deps, vaultId, chunk, async () => {}))
  let askAt = deps.clock()
  await applyChunk(deps, vaultId, last, async (trx, ofLast) => {
    const all = [...applied, ofLast]
    const strangers = await listStrangers(
      trx,
      vaultId,
      all.flatMap(({ strange }) => strange),
    )
    if (strangers.length + malformed > 0)
      deps.log.warn(
        { vaultId, malformed, strangers: strangers.slice(0, 5) },
        'the wallet service reports other transfers',
      )
    const isEmpty = statuses.size + malformed === 0
    const isFruitful = following.cursor === null || (isEmpty ? wasHeld : all.some(({ news }) => news.length > 0))
    const noted = strangers.length + malformed
    askAt = await rest(trx, deps, following, { isFruitful, cursor, heardAt: deps.clock(), strangers: noted })
  })
  return askAt
}

type Report = [id: string, status: WalletStatus]

function chunksOf(reports: Report[]): Report[][] {
  const chunks: Report[][] = []
  for (let i = 0; i < reports.length; i += walletChangesTogetherMax)
    chunks.push(reports.slice(i, i + walletChangesTogetherMax))
  return chunks
}

/** Applies reports one by one when they cannot be applied together, so that no transfer stops another one. */
async function applyChunk(
  deps: Deps,
  vaultId: string,
  reports: Report[],
  finish: (trx: Trx, applied: Applied) => Promise<void>,
): Promise<Applied> {
  const apply = (reports: Report[], end: typeof finish) =>
    inTransaction(deps.db, async (trx) => {
      const applied = await applyReports(trx, deps, {
        vaultId,
        reports: new Map(reports),
        isFollowed: true,
        isAsked: false,
      })
      await end(trx, applied)
      return applied
    })
  try {
    return await apply(reports, finish)
  } catch (error) {
    if (error instanceof LostClaimError || reports.length === 0) throw error
    deps.log.warn({ err: error, vaultId }, 'changes are applied one by one')
  }
  const sum: Applied = { news: [], strange: [] }
  for (const report of reports) {
    try {
      const { news, strange } = await apply([report], async () => {})
      sum.news.push(...news)
      sum.strange.push(...strange)
    } catch (error) {
      deps.log.error({ err: error, vaultId, transferId: report[0] }, 'a change could not be applied')
    }
  }
  await apply([], (trx) => finish(trx, sum))
  return sum
}

const pauseOf = (fruitless: number): number => retryAt(new Date(0), fruitless + 1, fruitlessPauses).getTime()

type Outcome = { isFruitful: boolean } & Pick<Rest, 'cursor' | 'heardAt' | 'strangers'>

const restAfter = (deps: Deps, following: Following, outcome: Outcome): Promise<Date> =>
  inTransaction(deps.db, (trx) => rest(trx, deps, following, outcome))

/** Ends a claim. After too many fruitless answers its transfers are asked about one by one. */
async function rest(trx: Trx, { clock }: Deps, following: Following, outcome: Outcome): Promise<Date> {
  const now = clock()
  // A first answer is not news: a service that loses every cursor begins again and again.
  const fruitful = following.cursor === null ? following.fruitless : 0
  const fruitless = outcome.isFruitful ? fruitful : Math.min(following.fruitless + 1, 1_000)
  const isTrusted = fruitless < fruitlessMax
  const askAt = after(now, outcome.isFruitful ? pauseMilliseconds : pauseOf(following.fruitless))
  const since = isTrusted && outcome.cursor !== null ? (following.since ?? now) : null
  await restUntilNext(trx, following, { ...outcome, since, fruitless, askAt })
  if (following.since !== null && since === null)
    await askAboutAll(trx, following.vaultId, now, after(now, claimedMilliseconds))
  return askAt
}

/** Starts again without a cursor after a pause; until then its transfers are asked about one by one. */
function forget(deps: Deps, following: Following, milliseconds: number): Promise<Date> {
  return inTransaction(deps.db, async (trx) => {
    const now = deps.clock()
    const askAt = after(now, milliseconds)
    const fruitless = Math.min(following.fruitless + 1, 1_000)
    await restUntilNext(trx, following, { cursor: null, since: null, heardAt: now, fruitless, askAt })
    await askAboutAll(trx, following.vaultId, now, after(now, claimedMilliseconds))
    return askAt
  })
}

/** Lets another node follow at once. */
function release(deps: Deps, following: Following): Promise<Date> {
  const { cursor, since, fruitless } = following
  const askAt = deps.clock()
  return inTransaction(deps.db, async (trx) => {
    await restUntilNext(trx, following, { cursor, since, fruitless, heardAt: null, askAt })
    return askAt
  })
}
