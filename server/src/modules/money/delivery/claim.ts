import { sql } from 'kysely'
import { claimRows } from '../../../db/claim.ts'
import type { Trx } from '../../../db/client.ts'
import { isOneOf } from '../../../db/one-of.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { walletCallTimeoutMilliseconds } from '../../../lib/limits.ts'
import { openPhases, type Phase } from '../../../lib/operations.ts'
import { type LockedTransfer, lockTransfer } from '../transfers/queries.ts'

const claimedMax = 20
/** How long a claim holds; if this process ends, another node continues after it. */
const leaseMilliseconds = 60_000
/** Between two status requests for a transfer that the wallet service has accepted; also the first pause after an error. */
export const pollMilliseconds = 1_000
export const retryMillisecondsMax = 60_000
/** Until a transfer that may have been sent is tried again while its screening has no answer. */
export const screeningPollMilliseconds = 5_000
export const backoff = { firstMilliseconds: pollMilliseconds, longestMilliseconds: retryMillisecondsMax }

/** A transfer that this node has claimed until `leaseEndsAt`, in the phase it had when it was claimed. */
export type Claim = {
  vaultId: string
  id: string
  phase: Phase
  /** Whether a replacement was decided on, which waits to be handed over. */
  isReplacementDue: boolean
  leaseEndsAt: Date
}

/** Claims the transfers that are due, each for one node only, except those of the excluded vaults. */
export async function claimDueTransfers(deps: Deps, exceptVaultIds: string[]): Promise<Claim[]> {
  const now = deps.clock()
  const leaseEndsAt = after(now, leaseMilliseconds)
  const { rows } = await sql<Omit<Claim, 'leaseEndsAt'>>`
    with ${claimRows({
      table: 'transfers',
      key: ['vault_id', 'id'],
      where: sql`${isOneOf('n.phase', openPhases)} and n.next_attempt_at <= ${now}
        and n.vault_id <> all (${exceptVaultIds})`,
      orderBy: sql`n.next_attempt_at`,
      limit: claimedMax,
      set: sql`next_attempt_at = ${leaseEndsAt}`,
    })}
    select vault_id as "vaultId", id, phase, replacement_due as "isReplacementDue" from claimed`.execute(deps.db)
  return rows.map((claim) => ({ ...claim, leaseEndsAt }))
}

/**
 * Locks a transfer in the phase in which it was claimed; null when another node or person has moved it since, for example
 * while this node was paused. Its status may be any: the comparison with its record names a wrong one.
 */
export async function lockClaimed(trx: Trx, claim: Claim): Promise<LockedTransfer | null> {
  const transfer = await lockTransfer(trx, claim.vaultId, claim.id)
  return transfer?.phase === claim.phase && isHeld(transfer, claim) ? transfer : null
}

/** Locks a transfer whose delivery is in progress on any node; null when it has ended or is halted. */
export async function lockUnderWay(
  trx: Trx,
  { vaultId, id }: Pick<Claim, 'vaultId' | 'id'>,
): Promise<LockedTransfer | null> {
  const transfer = await lockTransfer(trx, vaultId, id)
  return transfer?.status === 'pending' && transfer.phase !== 'halted' ? transfer : null
}

/**
 * As `lockUnderWay`, on this node; null also when another node has claimed the transfer since, which may have sent it
 * (threat T24).
 */
export async function lockHeld(trx: Trx, claim: Claim): Promise<LockedTransfer | null> {
  const transfer = await lockUnderWay(trx, claim)
  return transfer !== null && isHeld(transfer, claim) ? transfer : null
}

const isHeld = ({ next_attempt_at }: LockedTransfer, { leaseEndsAt }: Claim): boolean =>
  next_attempt_at?.getTime() === leaseEndsAt.getTime()

/** Works on a transfer under a lock, in a transaction of its own; does nothing when another node or person came first. */
export async function underLock(
  { db, clock }: Deps,
  lock: (trx: Trx) => Promise<LockedTransfer | null>,
  work: (trx: Trx, transfer: LockedTransfer, now: Date) => Promise<void>,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const transfer = await lock(trx)
    if (transfer !== null) await work(trx, transfer, clock())
  })
}

/**
 * A node that was paused may no longer send: another one has claimed the transfer, and may have released the funds since
 * (threat T24).
 */
export function assertMaySend(deps: Deps, { leaseEndsAt }: Claim): void {
  const remainingMilliseconds = leaseEndsAt.getTime() - deps.clock().getTime()
  if (remainingMilliseconds < walletCallTimeoutMilliseconds) throw new Error('The claim on the transfer is nearly over')
}

export function after(now: Date, milliseconds: number): Date {
  return new Date(now.getTime() + milliseconds)
}
