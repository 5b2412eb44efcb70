import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { walletCallTimeoutMilliseconds } from '../../../lib/limits.ts'
import type { Phase } from './lifecycle.ts'
import { type LockedTransfer, lockTransfer } from './queries.ts'

const claimedMax = 20
/** How long a claim is ours; should this process die, another one goes on after it. */
const leaseMilliseconds = 60_000
/** Between two questions about a transfer that the wallet service has taken; also the first pause after an error. */
export const pollMilliseconds = 1_000
export const retryMillisecondsMax = 60_000

/** A transfer that is this node's until `leaseEndsAt`, in the phase it had when it was claimed. */
export type Claim = { vaultId: string; id: string; phase: Phase; leaseEndsAt: Date }

/** Claims the transfers that are due, each for one node alone, except those of some vaults. */
export async function claimDueTransfers(deps: Deps, exceptVaultIds: string[]): Promise<Claim[]> {
  const now = deps.clock()
  const leaseEndsAt = after(now, leaseMilliseconds)
  const { rows } = await sql<Omit<Claim, 'leaseEndsAt'>>`
    with due as (
      select vault_id, id from transfers
      where phase in ('queued', 'submitting', 'submitted', 'broadcast') and next_attempt_at <= ${now}
        and vault_id <> all (${exceptVaultIds})
      order by next_attempt_at limit ${claimedMax} for update skip locked
    )
    update transfers t set next_attempt_at = ${leaseEndsAt}
    from due where t.vault_id = due.vault_id and t.id = due.id
    returning t.vault_id as "vaultId", t.id, t.phase`.execute(deps.db)
  return rows.map((claim) => ({ ...claim, leaseEndsAt }))
}

/** Locks a transfer; null when it went on without this node, which was paused, say. */
export async function lockClaimed(
  trx: Trx,
  { vaultId, id, phase, leaseEndsAt }: Claim,
): Promise<LockedTransfer | null> {
  const transfer = await lockTransfer(trx, vaultId, id)
  const isOurs = transfer?.phase === phase && transfer.next_attempt_at?.getTime() === leaseEndsAt.getTime()
  return isOurs ? transfer : null
}

/** Locks a transfer whose delivery is under way, by whichever node; null when it is over, or halted. */
export async function lockUnderWay(trx: Trx, { vaultId, id }: Claim): Promise<LockedTransfer | null> {
  const transfer = await lockTransfer(trx, vaultId, id)
  return transfer?.status === 'pending' && transfer.phase !== 'halted' ? transfer : null
}

/**
 * A node that was paused may no longer send: another one has taken over, and may have given the funds back since
 * (threat 24).
 */
export function assertMaySend(deps: Deps, { leaseEndsAt }: Claim): void {
  const remainingMilliseconds = leaseEndsAt.getTime() - deps.clock().getTime()
  if (remainingMilliseconds < walletCallTimeoutMilliseconds) throw new Error('The claim on the transfer is nearly over')
}

export function after(now: Date, milliseconds: number): Date {
  return new Date(now.getTime() + milliseconds)
}
