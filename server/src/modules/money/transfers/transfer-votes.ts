import { sql } from 'kysely'
import type { ByMember, Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { conflict, refusalFor } from '../../../lib/errors.ts'
import { type ActiveHold, activeHoldOf, assertNotHeld } from '../../rules/holds/active.ts'
import { type CancelSignature, takeCancellation } from '../../rules/signatures/take.ts'
import {
  assertMayCancel,
  type Ballot,
  gather,
  type RecordedSubject,
  stopUnlessSame,
  type VotableSubject,
  voteOn,
} from '../../rules/votes/ballot.ts'
import { expireDue } from '../../rules/votes/expire.ts'
import { type Votes, votesAfter } from '../../rules/votes/queries.ts'
import type { VoteChoice } from '../../rules/votes/tally.ts'
import { isSignedOrder, type Payload } from '../orders/payload.ts'
import { findObjection, holdOnTransfer } from '../orders/recheck.ts'
import type { RecordedOrder } from './compare-order.ts'
import { assertMovable, moveTransfer, recordedTransfers, transferHalted } from './move.ts'
import { toMovedTransfer } from './present.ts'
import {
  type LockedTransfer,
  listDueApprovals,
  listShownOrders,
  lockTransfer,
  lockVisibleTransfer,
  type StoredOrder,
  type TransferRow,
  type UnvotedRow,
} from './queries.ts'

/** Transfers that are compared with their records, and read with the columns that are shown to the member. */
const shownTransfers = (
  log: Deps['log'],
  member: Member,
): RecordedSubject<LockedTransfer, StoredOrder & UnvotedRow, RecordedOrder> => ({
  ...recordedTransfers(log),
  listStored: (trx, _vaultId, ids, beside) => listShownOrders(trx, member, ids, beside),
})

/** Transfers as a votable subject. */
const votableTransfers = (
  log: Deps['log'],
  voter: Member,
): VotableSubject<LockedTransfer, StoredOrder & UnvotedRow, RecordedOrder> => ({
  ...shownTransfers(log, voter),
  lock: lockVisibleTransfer,
  holdOn: () => holdOnTransfer,
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
  async onApproved(trx, transfer, { member, now, recorded, parts }) {
    const objection = await findObjection(trx, transfer, recorded, { isSumKept: false, now })
    if (objection !== null) throw refusalFor(objection)
    await moveTransfer(trx, transfer, { event: 'approved', actorId: member.userId, now }, parts)
    return null
  },
  onRejected: (trx, transfer, { member, now, parts }) =>
    moveTransfer(trx, transfer, { event: 'rejected', actorId: member.userId, now }, parts),
})

/** Checks that a transfer or payout waits for votes. @throws 409 when it was decided, or not decided in time */
export function assertAwaiting(
  noun: 'transfer' | 'payout',
  { status, expires_at }: { status: string; expires_at: Date | null },
  now: Date,
): void {
  if (status !== 'awaiting_approval') throw conflict('wrong_state', `The ${noun} is ${status}, not awaiting approval`)
  if (expires_at !== null && expires_at <= now)
    throw conflict('approval_expired', `The time to vote on this ${noun} has expired`)
}

/** Returns true if votes on an order must be signed. @throws 409 when they must be, and the order is not signed */
export function mustBeSigned(noun: 'transfer' | 'payout', payload: Payload, { vault }: Member): boolean {
  if (isSignedOrder(payload)) return true
  if (vault.protection === 'off') return false
  throw conflict('not_in_protected_vault', `The ${noun} was ordered before the vault was protected; order it again`)
}

/**
 * Records an approval or a veto: the last required approval queues the transfer for delivery, and a veto releases its
 * funds. A transfer that differs from its audit records halts instead, which is committed and answered with 409. Returns the
 * transfer after the vote.
 *
 * @throws as `voteOn`
 */
export async function voteOnTransfer(
  trx: Trx,
  log: Deps['log'],
  decision: VoteChoice,
  ballot: Ballot,
): Promise<TransferRow | Refusal> {
  const voted = await voteOn(trx, votableTransfers(log, ballot.member), decision, ballot)
  if ('refusal' in voted) return voted
  const row = { ...voted.stored, ...voted.votes }
  if (voted.outcome === 'waiting') return row
  return toMovedTransfer(row, voted.outcome === 'approved' ? 'pending' : 'rejected', ballot.now)
}

/**
 * Cancels a transfer for its initiator or an administrator, until it is handed over to the wallet service. Returns the cancelled
 * transfer.
 */
export async function cancelTransfer(
  trx: Trx,
  log: Deps['log'],
  id: string,
  { member, now, signature }: ByMember & { signature: CancelSignature },
): Promise<TransferRow | Refusal> {
  const transfer = await lockVisibleTransfer(trx, member, id)
  assertMayCancel('transfer', transfer, member)
  const subject = shownTransfers(log, member)
  const { more, ...gathered } = await gather(trx, subject, transfer, ownHoldWithVotes(transfer))
  assertNotHeld(more.hold)
  assertNotHalted(transfer)
  if (transfer.status === 'pending' && transfer.phase !== 'queued') {
    throw conflict('wrong_state', 'The transfer was already handed to the wallet service')
  }
  assertMovable(transfer, 'cancelled')
  if (transfer.status === 'awaiting_approval') assertNotOfPayout(transfer)
  const compared = await stopUnlessSame(trx, subject, transfer, gathered, now)
  if ('refusal' in compared) return compared
  const hash = transfer.payload_hash.toString('hex')
  const parts = await takeCancellation(trx, signature, { subject: 'transfer', subjectId: id, hash, member, now })
  await moveTransfer(trx, transfer, { event: 'cancelled', actorId: member.userId, now }, parts)
  return toMovedTransfer({ ...gathered.stored, ...more.votes }, 'cancelled', now)
}

/** Rejects a locked transfer that was not approved in time, and releases its funds. */
async function expireTransfer(trx: Trx, log: Deps['log'], transfer: LockedTransfer, now: Date): Promise<void> {
  if (transfer.status !== 'awaiting_approval' || transfer.phase === 'halted' || transfer.payout_id !== null) return
  const subject = recordedTransfers(log)
  const { more, ...gathered } = await gather(trx, subject, transfer, ownHold(transfer))
  if (more !== null) return
  const compared = await stopUnlessSame(trx, subject, transfer, gathered, now)
  if ('refusal' in compared) return
  await moveTransfer(trx, transfer, { event: 'expired', actorId: null, now, failureReason: 'APPROVAL_EXPIRED' })
}

/** SQL: JSON of the hold on a transfer. A held transfer is not cancelled and does not expire: its initiator could order it again. */
const ownHold = ({ vault_id: vaultId, id: transferId }: LockedTransfer) =>
  activeHoldOf({ vaultId, ofVault: false, transferId })

const ownHoldWithVotes = (transfer: LockedTransfer) =>
  sql<{ hold: ActiveHold | null; votes: Votes }>`json_build_object(
    'hold', ${ownHold(transfer)}, 'votes', ${votesAfter(null, transfer.vault_id, transfer.id)})`

/** Refuses a transfer of a payout, because people approve, reject and cancel the payout as a whole. */
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
