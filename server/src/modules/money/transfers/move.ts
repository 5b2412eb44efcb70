import { sql, type Updateable } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import { insertsOf, type Part, recordsetOf, runParts } from '../../../db/insert-rows.ts'
import type { Transfers } from '../../../db/types.ts'
import type { Deps } from '../../../deps.ts'
import { conflict } from '../../../lib/errors.ts'
import type { OperationStatus, Phase, Queue } from '../../../lib/operations.ts'
import { paidRecipientsOf } from '../../address-book/recipients/queries.ts'
import { type BookedFee, operationsMoved, restoreOperation } from '../../operations/feed/operation-rows.ts'
import { audit, toAuditRow } from '../../record/audit/record.ts'
import { notifyOfStop } from '../../record/notifications/notification-rows.ts'
import { closing, type RecordedSubject } from '../../rules/votes/ballot.ts'
import { type Posting, postEntries, posting } from '../ledger/postings.ts'
import { hashPayload, type Payload } from '../orders/payload.ts'
import { compareWithRecord, type RecordedOrder, type RecordedState } from './compare-order.ts'
import { isPhaseOf, mayMovePhase, nextStatus, queueOf, releasesFunds, type TransferEvent } from './lifecycle.ts'
import { type LockedTransfer, listStoredOrders, type StoredOrder } from './queries.ts'

export type Movement = {
  event: TransferEvent
  /** The user who acted; null for the service itself. */
  actorId: string | null
  now: Date
  failureReason?: string
  txHash?: string | null
  txIndex?: number | null
  blockchainAt?: Date | null
  /** Other columns of the delivery that are set when it ends, such as the fee. */
  changes?: DeliveryChanges
  /** Postings to write in the same statement, such as the network fee. */
  extraPostings?: Posting[]
  /** The network fee among these postings. */
  bookedFee?: BookedFee | null
  /** The resolution of a halted transfer by two people; kept in the audit record. */
  resolution?: Record<string, unknown>
}

/** The name of an event in the action of its audit record. */
const recordedAs: Partial<Record<TransferEvent, string>> = { approved: 'released', rejected: 'vetoed' }

/**
 * Moves a locked transfer to its next status: releases its funds, moves its delivery, writes its audit record and closes its
 * voting, in one statement.
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
  await moveTransfers(trx, [{ ...movement, transfer }], movement.now, parts)
}

/** A transfer with its movement. */
export type Moved = Omit<Movement, 'now'> & { transfer: LockedTransfer }

/** Moves several transfers of one vault as `moveTransfer` does, in one statement. */
export async function moveTransfers(trx: Trx, moved: Moved[], now: Date, parts: Part[] = []): Promise<void> {
  const [first] = moved
  if (first === undefined) return runParts(trx, parts)
  const vaultId = first.transfer.vault_id
  const moves = moved.map((movement) => ({ ...movement, to: assertMovable(movement.transfer, movement.event) }))
  const confirmed = moves.filter(({ to }) => to === 'confirmed').map(({ transfer }) => transfer.id)
  await postEntries(trx, moves.flatMap(postingsOf), now, [
    ...parts,
    operationsMoved(
      { vaultId, now },
      moves.map(({ transfer: { id, status: from }, ...move }) => ({ ...move, id, from })),
    ),
    ...phasesMoved(
      trx,
      moves.map(({ transfer, to, changes, failureReason = null }) =>
        to === 'pending'
          ? { transfer, to: 'queued', changes: { next_attempt_at: now } }
          : { transfer, to: 'done', changes: { ...changes, next_attempt_at: null, failure_reason: failureReason } },
      ),
    ),
    ...insertsOf({ audit_records: moves.map((move) => recordOf(trx, move, now)) }),
    ...(confirmed.length > 0 ? [paidRecipientsOf(vaultId, confirmed)] : []),
    ...moves.flatMap(({ transfer, actorId }) =>
      transfer.status === 'awaiting_approval' ? closing(trx, 'transfer', transfer, actorId, now) : [],
    ),
  ])
}

type Move = Moved & { to: OperationStatus }

function postingsOf({ transfer, to, extraPostings = [] }: Move): Posting[] {
  const kind = to === 'confirmed' ? 'settle' : releasesFunds(to) ? 'release' : null
  return kind === null ? extraPostings : [posting(kind, subjectOf(transfer)), ...extraPostings]
}

function recordOf(trx: Trx, { transfer, to, event, actorId, resolution, ...movement }: Move, now: Date) {
  const { vault_id: vaultId, id: targetId, status: from } = transfer
  const {
    failureReason = null,
    txHash = null,
    txIndex = null,
    blockchainAt = null,
    changes: { fee = null } = {},
  } = movement
  const output = txIndex === null ? {} : { txIndex }
  const action = `transfer.${recordedAs[event] ?? event}`
  const decided = resolution === undefined ? {} : { resolution }
  const chain = to === 'confirmed' || to === 'failed' ? { fee, blockchainAt } : {}
  const details = { from, to, reason: failureReason, txHash, ...output, ...chain, ...decided }
  return toAuditRow(trx, { vaultId, actorId, now, action, targetType: 'transfer', targetId, details })
}

const subjectOf = ({
  vault_id: vaultId,
  id: operationId,
  token_id: tokenId,
  address_id: addressId,
  amount,
}: LockedTransfer) => ({ vaultId, tokenId, addressId, operationId, amount })

/** An event that happens to all transfers of a payout at once. */
export type PayoutEvent = Extract<TransferEvent, 'approved' | 'rejected' | 'cancelled' | 'expired'>

/**
 * Moves the waiting transfers of a payout together, as `moveTransfer` moves one, in one statement. The caller has locked and
 * compared all of them.
 *
 * @param parts further statements that run as parts of the same one: the changes of the payout
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
  const isReleased = to === 'pending'
  const releases = isReleased ? [] : transfers.map((transfer) => posting('release', subjectOf(transfer)))
  const action = `transfer.${recordedAs[event] ?? event}`
  const details = { from, to, reason: failureReason, txHash: null }
  await postEntries(trx, releases, now, [
    ...parts,
    operationsMoved(
      { vaultId, now },
      transfers.map(({ id }) => ({ id, from, to })),
    ),
    ...phasesMoved(
      trx,
      transfers.map((transfer) => ({
        transfer,
        to: isReleased ? 'queued' : 'done',
        changes: { next_attempt_at: isReleased ? now : null, failure_reason: failureReason },
      })),
    ),
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
    ...phasesMoved(
      trx,
      waiting.map((transfer) => ({
        transfer,
        to: 'halted',
        changes: { halt_reason: reason, next_attempt_at: null },
      })),
    ),
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
export type DeliveryChanges = Omit<Partial<Updateable<Transfers>>, 'vault_id' | 'id' | 'phase' | 'payload'> &
  Attempts & { payload?: Payload }

/**
 * The columns of the queues: the time of the next step, and the number of attempts that failed (`attempts`) and of questions without
 * news (`asked`), both in a row.
 */
type Attempts = { next_attempt_at?: Date | null; attempts?: number; asked?: number }

/** Moves the delivery of a locked transfer by compare-and-set, in one statement with its place in the queues. */
export async function movePhase(
  trx: Trx,
  transfer: LockedTransfer,
  to: Phase,
  changes: DeliveryChanges,
): Promise<void> {
  await runParts(trx, phasesMoved(trx, [{ transfer, to, changes }]))
}

/** A step of a delivery. */
export type PhaseMove = { transfer: LockedTransfer; to: Phase; changes: DeliveryChanges }

/** SQL: the parts of `movePhase` for transfers of one vault; only this function changes a phase. Only rows with changes are written. */
export function phasesMoved(trx: Trx, moves: PhaseMove[]): Part[] {
  for (const { transfer, to, changes } of moves) {
    if (!mayMovePhase(transfer.phase, to))
      throw new Error(`The delivery of transfer ${transfer.id} cannot go from ${transfer.phase} to ${to}`)
    if (isDueNow(transfer.phase, to) || changes.replacement_due === true) wake(trx, 'deliver-transfers')
    if (transfer.phase === 'submitting' && queueOf(to, false) === 'follow') wake(trx, 'follow-changes')
  }
  return [...requeued(moves), ...written(moves)]
}

/** Returns true if this step begins or continues a delivery, so that it is due at once; false for a repeated attempt. */
const isDueNow = (from: Phase, to: Phase): boolean =>
  (from === 'waiting' && to === 'queued') ||
  (from === 'halted' && to !== 'done') ||
  (to === 'submitting' && from !== 'queued')

/** SQL: the places of transfers in the queues. A missing place is inserted, and the place of an ended delivery is deleted. */
function requeued(moves: PhaseMove[]): Part[] {
  const rows = []
  const ended: LockedTransfer[] = []
  for (const { transfer, to, changes } of moves) {
    const { vault_id, id, payout_id, expires_at } = transfer
    const queue = queueOf(to, changes.replacement_due ?? transfer.replacement_due)
    if (queue === null) {
      ended.push(transfer)
      continue
    }
    const {
      next_attempt_at = transfer.next_attempt_at,
      attempts = transfer.attempts,
      asked: timesAsked = transfer.asked,
    } = changes
    // A row of a payout waits as long as its payout.
    const untilExpiry = payout_id === null ? expires_at : null
    const at = queue === 'votes' ? untilExpiry : next_attempt_at
    if (isInPlace(transfer, { queue, at, attempts, asked: timesAsked })) continue
    rows.push({ vault_id, id, queue, next_attempt_at: at, attempts, asked: timesAsked })
  }
  const inserts = insertsOf({ deliveries: rows }).map(
    (insert) => sql`${insert} on conflict (vault_id, id) do update set queue = excluded.queue,
      next_attempt_at = excluded.next_attempt_at, attempts = excluded.attempts, asked = excluded.asked`,
  )
  if (ended.length === 0) return inserts
  const ids = ended.map(({ id }) => id)
  return [...inserts, sql`delete from deliveries where vault_id = ${ended[0]!.vault_id} and id = any(${ids}::text[])`]
}

type InQueue = { queue: Queue; at: Date | null; attempts: number; asked: number }

/** Returns true if the transfer has this place already. Returns false without a time: then the row may be missing. */
const isInPlace = (transfer: LockedTransfer, { queue, at, attempts, asked: timesAsked }: InQueue): boolean =>
  at !== null &&
  transfer.next_attempt_at?.getTime() === at.getTime() &&
  transfer.attempts === attempts &&
  transfer.asked === timesAsked &&
  queueOf(transfer.phase, transfer.replacement_due) === queue

/** SQL: updates of the rows of transfers, in one statement for all transfers with the same changed columns. */
function written(moves: PhaseMove[]): Part[] {
  const groups = new Map<string, { from: Phase; columns: string[]; rows: object[] }>()
  for (const { transfer, to, changes } of moves) {
    const { next_attempt_at: _at, attempts: _attempts, asked: _asked, ...kept } = changes
    const changed = Object.entries({ ...kept, phase: to }).filter(
      ([column, value]) => value !== undefined && transfer[column as keyof LockedTransfer] !== value,
    )
    if (changed.length === 0) continue
    const columns = changed.map(([column]) => column).sort()
    const key = [transfer.phase, ...columns].join(' ')
    const group = groups.get(key) ?? { from: transfer.phase, columns, rows: [] }
    groups.set(key, group)
    group.rows.push({ id: transfer.id, ...Object.fromEntries(changed) })
  }
  return [...groups.values()].map(({ from, columns, rows }) => {
    const update = sql`
      update transfers t set ${sql.join(columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`m.${column}`)}`))}
      from ${recordsetOf('transfers', rows)} m
      where t.vault_id = ${moves[0]!.transfer.vault_id} and t.id = m.id and t.phase = ${from} returning t.id`
    const otherwise = () => new Error(`The delivery of a transfer is no longer ${from}`)
    return { update, rows: rows.length, otherwise }
  })
}

/**
 * Restores the rows of a locked transfer from its audit records: the columns of the order, its status, the end of its votes, and
 * the phase. Other columns and tables, such as votes, stay as they are.
 */
export async function restoreTransfer(
  trx: Trx,
  transfer: LockedTransfer,
  { order, status, expiresAt }: Pick<RecordedState, 'order' | 'status' | 'expiresAt'>,
  now: Date,
): Promise<void> {
  const { vault_id: vaultId, id } = transfer
  await restoreOperation(trx, { ...order, vaultId, id, status, now })
  await movePhase(trx, transfer, isPhaseOf(status, 'halted') ? 'halted' : 'done', {
    to_address: order.toAddress,
    contract_address: order.contractAddress,
    payload: order,
    payload_hash: hashPayload(order),
    fee_level: order.feeLevel ?? null,
    max_fee: order.maxFee ?? null,
    expires_at: expiresAt,
    next_attempt_at: null,
  })
}

type Log = Deps['log']

/** Compares transfers with their audit records; a transfer that differs is halted, which the caller must commit. */
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

/** Halts a locked transfer until people resolve it: the funds stay reserved, and an alert is sent. */
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

/** Leaves a locked transfer in its phase, with its funds reserved, until the next attempt, and sends an alert about it. */
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

/** Sends an alert, once while the reason stays the same: to the audit log, to the log, and by mail to administrators. */
export async function raiseAlarm(
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
