import type { ByMember, Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { conflict } from '../../../lib/errors.ts'
import { type ActiveHold, assertNotHeld, findActiveHold } from '../../rules/holds/active.ts'
import { expireDue } from '../../rules/votes/expire.ts'
import type { VoteChoice } from '../../rules/votes/tally.ts'
import {
  assertMayCancel,
  type Ballot,
  lockVisible,
  stopUnlessAsRecorded,
  type VotableSubject,
  voteOn,
} from '../../rules/votes/vote.ts'
import { isSignedOrder } from '../orders/payload.ts'
import type { Payload } from '../orders/payload-schema.ts'
import { findHoldOnTransfer, findObjection } from '../orders/recheck.ts'
import type { RecordedOrder } from './compare-order.ts'
import { assertMovable, moveTransfer, recordedTransfers, transferHalted } from './move.ts'
import { isTransferVisible, type LockedTransfer, listDueApprovals, lockTransfer, type StoredOrder } from './queries.ts'

const lockable = { title: 'Transfer', isVisible: isTransferVisible, lock: lockTransfer }

/** @throws 404 */
export function lockVisibleTransfer(trx: Trx, member: Member, id: string): Promise<LockedTransfer> {
  return lockVisible(trx, lockable, member, id)
}

/** Transfers as a votable subject. */
const votableTransfers = (log: Deps['log']): VotableSubject<LockedTransfer, StoredOrder, RecordedOrder> => ({
  ...recordedTransfers(log),
  ...lockable,
  findHold: (trx, { vault_id, id }) => findHoldOnTransfer(trx, vault_id, id),
  assertOpen(transfer, now) {
    assertAwaiting('transfer', transfer, now)
    assertNotHalted(transfer)
    assertNotOfPayout(transfer)
  },
  mustBeSigned: ({ payload }, member) => mustBeSigned('transfer', payload, member),
  toVoteRecord: (decision) => ({
    action: decision === 'approve' ? 'transfer.approved' : 'transfer.rejected',
    details: {},
  }),
  async onApproved(trx, transfer, { member, now, recorded }) {
    const objection = await findObjection(trx, transfer, recorded, { isSumKept: false, now })
    if (objection !== null) throw conflict(objection.reason, objection.message, objection.details)
    await moveTransfer(trx, transfer, { event: 'approved', actorId: member.userId, now })
    return null
  },
  onRejected: (trx, transfer, { member, now }) =>
    moveTransfer(trx, transfer, { event: 'rejected', actorId: member.userId, now }),
})

/** @throws 409 for a transfer or payout that was decided, or that was not decided in time */
export function assertAwaiting(
  noun: 'transfer' | 'payout',
  { status, expires_at }: { status: string; expires_at: Date | null },
  now: Date,
): void {
  if (status !== 'awaiting_approval') throw conflict('wrong_state', `The ${noun} is ${status}, not awaiting approval`)
  if (expires_at !== null && expires_at <= now)
    throw conflict('approval_expired', `The time to vote on this ${noun} has expired`)
}

/** Whether votes on an order are signed, as the order is. @throws 409 where they must be, and it is not */
export function mustBeSigned(noun: 'transfer' | 'payout', payload: Payload, { vault }: Member): boolean {
  if (isSignedOrder(payload)) return true
  if (vault.protection === 'off') return false
  throw conflict('not_in_protected_vault', `The ${noun} was ordered before the vault was protected; order it again`)
}

/**
 * Records an approval or a veto: the last required approval queues the transfer for delivery, and a veto releases its
 * funds. A transfer that differs from its audit records halts instead, which is committed and answered with 409.
 *
 * @throws as `voteOn`
 */
export function voteOnTransfer(
  trx: Trx,
  log: Deps['log'],
  decision: VoteChoice,
  ballot: Ballot,
): Promise<Refusal | null> {
  return voteOn(trx, votableTransfers(log), decision, ballot)
}

/** Cancels a transfer for its initiator or an administrator, until it is handed over to the wallet service. */
export async function cancelTransfer(
  trx: Trx,
  log: Deps['log'],
  id: string,
  { member, now }: ByMember,
): Promise<Refusal | null> {
  const transfer = await lockVisibleTransfer(trx, member, id)
  assertMayCancel('transfer', transfer, member)
  assertNotHeld(await findOwnHold(trx, transfer))
  assertNotHalted(transfer)
  if (transfer.status === 'pending' && transfer.phase !== 'queued') {
    throw conflict('wrong_state', 'The transfer was handed to the wallet service already')
  }
  assertMovable(transfer, 'cancelled')
  if (transfer.status === 'awaiting_approval') assertNotOfPayout(transfer)
  const compared = await stopUnlessAsRecorded(trx, recordedTransfers(log), transfer, now)
  if ('refusal' in compared) return compared
  await moveTransfer(trx, transfer, { event: 'cancelled', actorId: member.userId, now })
  return null
}

/** Rejects a locked transfer that was not approved in time, and releases its funds. */
export async function expireTransfer(trx: Trx, log: Deps['log'], transfer: LockedTransfer, now: Date): Promise<void> {
  if (transfer.status !== 'awaiting_approval' || transfer.phase === 'halted' || transfer.payout_id !== null) return
  if ((await findOwnHold(trx, transfer)) !== null) return
  const compared = await stopUnlessAsRecorded(trx, recordedTransfers(log), transfer, now)
  if ('refusal' in compared) return
  await moveTransfer(trx, transfer, { event: 'expired', actorId: null, now, failureReason: 'APPROVAL_EXPIRED' })
}

/** A held transfer stays as it is, with its funds: it is neither cancelled nor expires, or it could be ordered anew. */
function findOwnHold(trx: Trx, { vault_id: vaultId, id: transferId }: LockedTransfer): Promise<ActiveHold | null> {
  return findActiveHold(trx, { vaultId, ofVault: false, transferId })
}

/** What waits as a part of a payout is approved, rejected and cancelled with all of it. */
function assertNotOfPayout({ payout_id }: LockedTransfer): void {
  if (payout_id === null) return
  const message = 'The transfer is part of a payout, which is voted on and cancelled as a whole'
  throw conflict('part_of_payout', message, `It belongs to the payout ${payout_id}`)
}

function assertNotHalted({ phase, halt_reason }: LockedTransfer): void {
  if (phase === 'halted') throw transferHalted(halt_reason)
}

/** Rejects the transfers that were not approved in time and releases their funds. */
export function expireTransfers(deps: Deps): Promise<void> {
  return expireDue(deps, {
    noun: 'transfer',
    listDue: listDueApprovals,
    lock: lockTransfer,
    expire: (trx, transfer, now) => expireTransfer(trx, deps.log, transfer, now),
  })
}
