import { type RawBuilder, sql, type Updateable } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import { assignments, insertsOf, type Part, runParts } from '../../../db/insert-rows.ts'
import type { Transfers } from '../../../db/types.ts'
import type { Deps } from '../../../deps.ts'
import { conflict } from '../../../lib/errors.ts'
import type { OperationStatus, Phase, Queue } from '../../../lib/operations.ts'
import { paidRecipientOf } from '../../address-book/recipients/queries.ts'
import { operationsMoved, restoreOperation } from '../../operations/feed/operation-rows.ts'
import { audit, toAuditRow } from '../../record/audit/record.ts'
import { notifyOfStop } from '../../record/notifications/notification-rows.ts'
import { closing, type RecordedSubject } from '../../rules/votes/ballot.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { type Posting, posting } from '../ledger/postings.ts'
import { hashPayload } from '../orders/order-payload.ts'
import { compareWithRecord, type RecordedOrder, type RecordedState } from './compare-order.ts'
import { isPhaseOf, mayMovePhase, nextStatus, queueOf, releasesFunds, type TransferEvent } from './lifecycle.ts'
import { type LockedTransfer, listStoredOrders, type StoredOrder } from './queries.ts'

export type Movement = {
  event: TransferEvent
  /** null: the service itself. */
  actorId: string | null
  now: Date
  failureReason?: string
  txHash?: string | null
  blockchainAt?: Date | null
  /** Other delivery columns that are set at the end, such as the fee. */
  changes?: DeliveryChanges
  /** Postings to write in the same statement, such as the network fee. */
  extraPostings?: Posting[]
  /** How two people resolved a stuck transfer; kept in the audit record. */
  resolution?: Record<string, unknown>
}

/** The name of an event in the action of its audit record. */
const recordedAs: Partial<Record<TransferEvent, string>> = { approved: 'released', rejected: 'vetoed' }

/**
 * Moves a locked transfer to its next status, and with it releases its funds, moves its delivery, writes its audit record and
 * closes its voting: in one statement.
 *
 * @param parts further statements that run as parts of the same one, such as the vote that decided
 * @throws 409 when its status does not permit the event
 */
export async function moveTransfer(
  trx: Trx,
  transfer: LockedTransfer,
  movement: Movement,
  parts: Part[] = [],
): Promise<void> {
  const { vault_id: vaultId, id, status: from } = transfer
  const { event, actorId, now, failureReason = null, txHash = null, blockchainAt = null } = movement
  const to = assertMovable(transfer, event)
  const kind = to === 'confirmed' ? 'settle' : releasesFunds(to) ? 'release' : null
  const reserved = kind === null ? [] : [posting(kind, subjectOf(transfer))]
  const delivery = { ...movement.changes, next_attempt_at: null, failure_reason: failureReason }
  const action = `transfer.${recordedAs[event] ?? event}`
  const decided = movement.resolution === undefined ? {} : { resolution: movement.resolution }
  const { changes: { fee = null } = {} } = movement
  const chain = to === 'confirmed' || to === 'failed' ? { fee, blockchainAt } : {}
  const details = { from, to, reason: failureReason, txHash, ...chain, ...decided }
  const record = toAuditRow(trx, { vaultId, actorId, now, action, targetType: 'transfer', targetId: id, details })
  await postEntries(trx, [...reserved, ...(movement.extraPostings ?? [])], now, [
    ...parts,
    operationsMoved({ vaultId, ids: [id], from, to, now, txHash, blockchainAt }),
    ...(to === 'pending'
      ? phaseMoved(trx, transfer, 'queued', { next_attempt_at: now })
      : phaseMoved(trx, transfer, 'done', delivery)),
    ...insertsOf({ audit_records: [record] }),
    ...(to === 'confirmed' ? [paidRecipientOf(vaultId, id)] : []),
    ...(from === 'awaiting_approval' ? closing(trx, 'transfer', transfer, actorId, now) : []),
  ])
}

const subjectOf = ({
  vault_id: vaultId,
  id: operationId,
  token_id: tokenId,
  address_id: addressId,
  amount,
}: LockedTransfer) => ({ vaultId, tokenId, addressId, operationId, amount })

/** What happens to all transfers of a payout at once. */
export type PayoutEvent = Extract<TransferEvent, 'approved' | 'rejected' | 'cancelled' | 'expired'>

/**
 * Moves the waiting transfers of a payout together, as `moveTransfer` does one, in one statement. The caller has locked and
 * compared all of them.
 *
 * @param parts further statements that run as parts of the same one: what happens to the payout
 */
export async function moveWaitingTransfers(
  trx: Trx,
  transfers: LockedTransfer[],
  movement: { event: PayoutEvent } & Pick<Movement, 'actorId' | 'now' | 'failureReason'>,
  parts: Part[],
): Promise<void> {
  const { event, actorId, now, failureReason = null } = movement
  const [first] = transfers
  if (first === undefined) return runParts(trx, parts)
  const from = 'awaiting_approval'
  const to = assertMovable({ ...first, status: from }, event)
  const vaultId = first.vault_id
  const ids = transfers.map(({ id }) => id)
  const isReleased = to === 'pending'
  const releases = isReleased ? [] : transfers.map((transfer) => posting('release', subjectOf(transfer)))
  const action = `transfer.${recordedAs[event] ?? event}`
  const details = { from, to, reason: failureReason, txHash: null }
  await postEntries(trx, releases, now, [
    ...parts,
    operationsMoved({ vaultId, ids, from, to, now }),
    ...phasesMoved(trx, transfers, {
      phase: isReleased ? 'queued' : 'done',
      next_attempt_at: isReleased ? now : null,
      failure_reason: failureReason,
    }),
    ...recordsOfEach(trx, transfers, { actorId, now }, action, details),
  ])
}

/** Halts the waiting transfers of a payout that differs from its record; the alert is about the payout. */
export async function haltWaitingTransfers(
  trx: Trx,
  transfers: LockedTransfer[],
  reason: string,
  now: Date,
): Promise<void> {
  const waiting = transfers.filter(({ phase }) => phase === 'waiting')
  if (waiting.length === 0) return
  await runParts(trx, [
    ...phasesMoved(trx, waiting, { phase: 'halted', halt_reason: reason, next_attempt_at: null }),
    ...recordsOfEach(trx, waiting, { actorId: null, now }, 'transfer.halted', { reason }),
  ])
}

function recordsOfEach(
  trx: Trx,
  transfers: LockedTransfer[],
  by: Pick<Movement, 'actorId' | 'now'>,
  action: string,
  details: Record<string, unknown>,
): Part[] {
  const records = transfers.map(({ vault_id: vaultId, id: targetId }) =>
    toAuditRow(trx, { ...by, vaultId, action, targetType: 'transfer', targetId, details }),
  )
  return insertsOf({ audit_records: records })
}

/** @throws 409 when its status does not permit the event */
export function assertMovable({ status }: LockedTransfer, event: TransferEvent): OperationStatus {
  const to = nextStatus(status, event)
  if (to === null) throw conflict('wrong_state', `The transfer is ${status} and cannot be ${event}`)
  return to
}

/** The columns of a delivery that change together with its phase. */
export type DeliveryChanges = Omit<Partial<Updateable<Transfers>>, 'vault_id' | 'id' | 'phase'> & Attempts

/** When it is looked at next, which only the queues ask about, and how often that led to nothing. */
type Attempts = { next_attempt_at?: Date | null; attempts?: number; asked?: number }

/** Moves the delivery of a locked transfer by compare-and-set, in one statement with its place in the queues. */
export async function movePhase(
  trx: Trx,
  transfer: LockedTransfer,
  to: Phase,
  changes: DeliveryChanges,
): Promise<void> {
  await runParts(trx, phaseMoved(trx, transfer, to, changes))
}

/**
 * SQL: the parts of `movePhase`; only this function and `phasesMoved` change a phase. The row of the transfer is written when
 * something in it changes.
 */
export function phaseMoved(
  trx: Trx,
  transfer: LockedTransfer,
  to: Phase,
  { next_attempt_at, attempts, asked, ...changes }: DeliveryChanges,
): Part[] {
  const { vault_id, id, phase } = transfer
  if (!mayMovePhase(phase, to)) throw new Error(`The delivery of transfer ${id} cannot go from ${phase} to ${to}`)
  const queued = requeue([transfer], queueOf(to, changes.replacement_due ?? transfer.replacement_due), {
    next_attempt_at: next_attempt_at === undefined ? transfer.next_attempt_at : next_attempt_at,
    attempts: attempts ?? transfer.attempts,
    asked: asked ?? transfer.asked,
  })
  if (isDueNow(phase, to) || changes.replacement_due === true) wake(trx, 'deliver-transfers')
  const isNew = ([column, value]: [string, unknown]) =>
    value !== undefined && transfer[column as keyof LockedTransfer] !== value
  const changed = Object.entries({ ...changes, phase: to }).filter(isNew)
  if (changed.length === 0) return [queued]
  const update = sql`update transfers set ${assignments(Object.fromEntries(changed))}
    where vault_id = ${vault_id} and id = ${id} and phase = ${phase} returning id`
  const otherwise = () => new Error(`The delivery of transfer ${id} is no longer ${phase}`)
  return [queued, { update, rows: 1, otherwise }]
}

/** Returns true when this step begins or continues a delivery, and is no attempt at it. */
const isDueNow = (from: Phase, to: Phase): boolean =>
  (from === 'waiting' && to === 'queued') ||
  (from === 'halted' && to !== 'done') ||
  (to === 'submitting' && from !== 'queued')

/** SQL: the place of transfers in the queues. It is made anew where it is missing, and goes when a delivery has ended. */
function requeue(transfers: LockedTransfer[], queue: Queue | null, changes: Required<Attempts>): RawBuilder<unknown> {
  if (queue === null) {
    const ids = transfers.map(({ id }) => id)
    return sql`delete from deliveries where vault_id = ${transfers[0]?.vault_id} and id = any(${ids}::text[])`
  }
  const rows = transfers.map(({ vault_id, id, payout_id, expires_at }) => {
    // A row of a payout waits as long as its payout.
    const untilExpiry = payout_id === null ? expires_at : null
    return { vault_id, id, queue, ...changes, ...(queue === 'votes' ? { next_attempt_at: untilExpiry } : {}) }
  })
  return sql`${insertsOf({ deliveries: rows })[0]} on conflict (vault_id, id) do update set queue = excluded.queue,
    next_attempt_at = excluded.next_attempt_at, attempts = excluded.attempts, asked = excluded.asked`
}

/** SQL: the parts for waiting transfers of a payout, together. */
function phasesMoved(
  trx: Trx,
  transfers: LockedTransfer[],
  {
    next_attempt_at = null,
    ...changes
  }: Pick<DeliveryChanges, 'next_attempt_at' | 'failure_reason' | 'halt_reason'> & { phase: Phase },
): Part[] {
  if (!mayMovePhase('waiting', changes.phase)) throw new Error(`A waiting delivery cannot become ${changes.phase}`)
  if (changes.phase === 'queued') wake(trx, 'deliver-transfers')
  const queued = requeue(transfers, queueOf(changes.phase, false), { next_attempt_at, attempts: 0, asked: 0 })
  const ids = transfers.map(({ id }) => id)
  const update = sql`update transfers set ${assignments(changes)}
    where vault_id = ${transfers[0]!.vault_id} and id = any(${ids}::text[]) and phase = 'waiting' returning id`
  const otherwise = () => new Error('A transfer of the payout waits no longer')
  return [queued, { update, rows: ids.length, otherwise }]
}

/**
 * Brings the rows of a locked transfer back to its audit records: the order, its status, and with it the phase. What is
 * repeated elsewhere stays as it is, such as votes.
 */
export async function restoreTransfer(
  trx: Trx,
  transfer: LockedTransfer,
  { order, status }: Pick<RecordedState, 'order' | 'status'>,
  now: Date,
): Promise<void> {
  const { vault_id: vaultId, id } = transfer
  await restoreOperation(trx, { ...order, vaultId, id, status, now })
  await movePhase(trx, transfer, isPhaseOf(status, 'halted') ? 'halted' : 'done', {
    to_address: order.toAddress,
    contract_address: order.contractAddress,
    payload: JSON.stringify(order),
    payload_hash: hashPayload(order),
    fee_level: order.feeLevel ?? null,
    max_fee: order.maxFee ?? null,
    next_attempt_at: null,
  })
}

type Log = Deps['log']

/** Compares transfers with their audit records; one that differs is halted, which the caller must commit. */
export const recordedTransfers = (log: Log): RecordedSubject<LockedTransfer, StoredOrder, RecordedOrder> => ({
  type: 'transfer',
  noun: 'transfer',
  listStored: listStoredOrders,
  compare: compareWithRecord,
  async stop(trx, transfer, reason, now) {
    await haltTransfer(trx, log, transfer, reason, now)
    return transferHalted(reason)
  },
})

export const transferHalted = (reason: string | null) =>
  conflict('transfer_halted', 'The transfer is halted; two administrators must resolve it', reason ?? undefined)

/** Stops a locked transfer for good: the funds stay reserved, an alert is sent, and people decide. */
export async function haltTransfer(
  trx: Trx,
  log: Log,
  transfer: LockedTransfer,
  reason: string,
  now: Date,
): Promise<void> {
  await movePhase(trx, transfer, 'halted', { halt_reason: reason, next_attempt_at: null })
  await raiseAlarm(trx, log, transfer, reason, now)
}

/** Leaves a locked transfer in its phase, with its funds, until the next attempt, and sends an alert about it. */
export async function postponeWithAlert(
  trx: Trx,
  log: Log,
  transfer: LockedTransfer,
  reason: string,
  { now, nextAttemptAt }: { now: Date; nextAttemptAt: Date },
): Promise<void> {
  await movePhase(trx, transfer, transfer.phase, { halt_reason: reason, next_attempt_at: nextAttemptAt })
  await raiseAlarm(trx, log, transfer, reason, now)
}

/** Once for each reason: to the audit log, to the log, and by mail to administrators. */
async function raiseAlarm(
  trx: Trx,
  log: Log,
  { vault_id: vaultId, id, halt_reason }: LockedTransfer,
  reason: string,
  now: Date,
): Promise<void> {
  if (halt_reason === reason) return
  log.error({ transferId: id, vaultId, reason }, 'transfer halted')
  await audit(trx, { vaultId, actorId: null, now }, 'transfer.halted', { type: 'transfer', id }, { reason })
  await notifyOfStop(trx, { vaultId, subjectType: 'transfer', subjectId: id }, now)
}
