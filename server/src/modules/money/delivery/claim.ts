import { sql } from 'kysely'
import { retryAt } from '../../../db/claim.ts'
import { prepared, type Trx } from '../../../db/client.ts'
import { isOneOf } from '../../../db/one-of.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { walletCallTimeoutMilliseconds } from '../../../lib/limits.ts'
import { openPhases, type Phase, type Queue } from '../../../lib/operations.ts'
import { type LockedTransfer, lockTransfer, lockTransfers } from '../transfers/queries.ts'
import { vaultsIn } from '../transfers/vaults-in-queue.ts'
import { isFollowed } from './following.ts'

/** The duration of a claim. If this process ends, another node continues after that time. */
const leaseMilliseconds = 60_000
/** The time from the hand-over, or from news, to the next question; also the first pause after an error. */
export const pollMilliseconds = 1_000
export const retryMillisecondsMax = 60_000
/** The longest time between two questions about a transfer without news. */
const pollMillisecondsMax = 30_000
/** The pause before a transfer that may have been sent is tried again while its screening has no answer. */
export const screeningPollMilliseconds = 5_000
export const backoff = { firstMilliseconds: pollMilliseconds, longestMilliseconds: retryMillisecondsMax }
const questions = { firstMilliseconds: pollMilliseconds, longestMilliseconds: pollMillisecondsMax }

/** The time between two questions about a transfer of a wallet service whose changes are followed. */
const followedMilliseconds = 600_000
/** These questions begin at multiples of this time, so that the questions of five seconds are claimed and answered together. */
const questionsTogetherMilliseconds = 5_000

/**
 * Returns the time of the next question about a transfer, after `timesAsked` answers in a row without news. Longer pauses vary
 * by up to a quarter, so that transfers that were handed over together are asked about at different times. Where changes are
 * followed, the first question comes at a random moment of the pause.
 */
export function askAgainAt(now: Date, timesAsked: number, isFollowed: boolean): Date {
  if (isFollowed) {
    const next = now.getTime() + followedMilliseconds * (timesAsked === 0 ? Math.random() : 1)
    return new Date(Math.floor(next / questionsTogetherMilliseconds) * questionsTogetherMilliseconds)
  }
  const pause = retryAt(now, timesAsked + 1, questions).getTime() - now.getTime()
  return after(now, timesAsked === 0 ? pause : pause * (1 - Math.random() / 4))
}

/** A transfer that this node has claimed until `leaseEndsAt`, in the phase it had when it was claimed. */
export type Claim = {
  vaultId: string
  id: string
  phase: Phase
  /** True if a replacement was decided on and waits to be handed over. */
  isReplacementDue: boolean
  /** True if the changes of its wallet service are followed. */
  isFollowed: boolean
  leaseEndsAt: Date
  /** The number of deliveries of the queue that its vault permits to begin in a second. */
  perSecond: number
}

/** The queues of the delivery. Each has its own lanes. */
export type DeliveryQueue = Extract<Queue, 'hand-over' | 'follow'>

/**
 * Claims the due transfers of a queue, each for one node only. A vault gets as many as its lane has places, so that a vault
 * with many transfers or a slow wallet service delays no other vault. Where the claim is limited, the vaults come first whose lanes
 * are the emptiest.
 *
 * @param places the free places of the lanes that are not empty
 */
export async function claimDue(
  deps: Deps,
  queue: DeliveryQueue,
  { laneMax, places, claimedMax }: { laneMax: number; places: Record<string, number>; claimedMax: number },
): Promise<Claim[]> {
  const now = deps.clock()
  const leaseEndsAt = after(now, leaseMilliseconds)
  const isRated = queue === 'follow'
  const firstPlaces = isRated ? sql`least(${laneMax}::integer, w.questions_per_second)` : sql`${laneMax}::integer`
  const { rows } = await sql<Omit<Claim, 'leaseEndsAt'>>`${prepared}
    with vaults_in_queue as (
      select v.vault_id, w.questions_per_second as per_second, ${firstPlaces} as first_places,
        coalesce((${JSON.stringify(places)}::jsonb ->> v.vault_id)::integer, ${firstPlaces}) as places
      from ${vaultsIn(queue)} v join vaults w on w.id = v.vault_id
    ), lanes as materialized (
      select * from vaults_in_queue order by places::real / first_places desc
    ), due as (
      select n.vault_id, n.id from lanes cross join lateral (
        select d.vault_id, d.id from deliveries d
        where d.queue = ${sql.lit(queue)} and d.vault_id = lanes.vault_id and d.next_attempt_at <= ${now}
        order by d.next_attempt_at limit lanes.places for update skip locked) n
      limit ${claimedMax}
    ), claimed as (
      update deliveries n set next_attempt_at = ${leaseEndsAt} from due
      where n.vault_id = due.vault_id and n.id = due.id returning n.vault_id, n.id
    )
    select c.vault_id as "vaultId", c.id, t.phase, t.replacement_due as "isReplacementDue",
      ${isFollowed(sql.ref('c.vault_id'), now)} as "isFollowed", l.per_second as "perSecond"
    from claimed c join lanes l on l.vault_id = c.vault_id
    join transfers t on t.vault_id = c.vault_id and t.id = c.id and ${isOneOf('t.phase', openPhases)}`.execute(deps.db)
  return rows.map(({ perSecond, ...claim }) => ({
    ...claim,
    leaseEndsAt,
    perSecond: isRated ? perSecond : Number.POSITIVE_INFINITY,
  }))
}

/** Returns the next time at which a transfer becomes due, without the vaults that have a due transfer now; null without such a time. */
export async function findNextDue(deps: Deps): Promise<Date | null> {
  const nextIn = (queue: DeliveryQueue) => sql`
    select n.next_attempt_at from ${vaultsIn(queue)} v cross join lateral (
      select d.next_attempt_at from deliveries d
      where d.queue = ${sql.lit(queue)} and d.vault_id = v.vault_id and d.next_attempt_at is not null
      order by d.next_attempt_at limit 1) n
    where n.next_attempt_at > ${deps.clock()}`
  const { rows } = await sql<{ next: Date | null }>`${prepared}
    select min(next_attempt_at) as next from (${nextIn('hand-over')} union all ${nextIn('follow')}) f`.execute(deps.db)
  return rows[0]!.next
}

/**
 * Locks a transfer in the phase in which it was claimed; null when another node or a person has moved it since, for example
 * while this node was paused. The status is not checked here: the comparison with the record detects a wrong one.
 */
export async function lockClaimed(trx: Trx, claim: Claim): Promise<LockedTransfer | null> {
  const [held] = await lockAllClaimed(trx, claim.vaultId, [claim])
  return held?.transfer ?? null
}

/** Locks transfers of a vault as `lockClaimed` does, in the order of their ids. Leaves out transfers that were moved since. */
export async function lockAllClaimed(
  trx: Trx,
  vaultId: string,
  claimed: Claim[],
): Promise<{ claim: Claim; transfer: LockedTransfer }[]> {
  const ids = claimed.map(({ id }) => id)
  const transfers = await lockTransfers(trx, vaultId, ids)
  return transfers.flatMap((transfer) => {
    const claim = claimed.find((candidate) => candidate.id === transfer.id && isClaimed(transfer, candidate))
    return claim !== undefined && transfer.phase === claim.phase ? [{ claim, transfer }] : []
  })
}

/** Locks a transfer whose delivery is in progress on any node; null when it has ended or is halted. */
async function lockUnderWay(trx: Trx, { vaultId, id }: Pick<Claim, 'vaultId' | 'id'>): Promise<LockedTransfer | null> {
  const transfer = await lockTransfer(trx, vaultId, id)
  return transfer?.status === 'pending' && transfer.phase !== 'halted' ? transfer : null
}

/**
 * Locks a transfer as `lockUnderWay` does, while the claim of this node lasts. Returns null also when another node has claimed the
 * transfer since, because that node may have sent it (threat T24).
 */
async function lockWhileClaimed(trx: Trx, claim: Claim): Promise<LockedTransfer | null> {
  const transfer = await lockUnderWay(trx, claim)
  return transfer !== null && isClaimed(transfer, claim) ? transfer : null
}

const isClaimed = ({ next_attempt_at }: LockedTransfer, { leaseEndsAt }: Claim): boolean =>
  next_attempt_at?.getTime() === leaseEndsAt.getTime()

type Work = (trx: Trx, transfer: LockedTransfer, now: Date) => Promise<void>

/** Works on a transfer under the lock of `lockClaimed`, in its own transaction. Does nothing when another node was first. */
export const workOnClaimed = (deps: Deps, claim: Claim, work: Work): Promise<void> =>
  underLock(deps, (trx) => lockClaimed(trx, claim), work)

/** Works on a transfer as `workOnClaimed` does, under the lock of `lockWhileClaimed`: its phase may have changed. */
export const workWhileClaimed = (deps: Deps, claim: Claim, work: Work): Promise<void> =>
  underLock(deps, (trx) => lockWhileClaimed(trx, claim), work)

async function underLock(
  { db, clock }: Deps,
  lock: (trx: Trx) => Promise<LockedTransfer | null>,
  work: Work,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const transfer = await lock(trx)
    if (transfer !== null) await work(trx, transfer, clock())
  })
}

/**
 * Throws when this node was paused for too long. Another node may have claimed the transfer, and its funds may have been
 * released since (threat T24).
 */
export function assertMaySend(deps: Deps, { leaseEndsAt }: Claim): void {
  const remainingMilliseconds = leaseEndsAt.getTime() - deps.clock().getTime()
  if (remainingMilliseconds < walletCallTimeoutMilliseconds) throw new Error('The claim on the transfer is nearly over')
}

export function after(now: Date, milliseconds: number): Date {
  return new Date(now.getTime() + milliseconds)
}
