import type { Db } from '../../../db/client.ts'
import { formatDecimal } from '../../../lib/money.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import type { TargetRecord } from '../../record/audit/record.ts'
import { type SubjectReport, verifySubjects } from '../../record/audit/verify-subjects.ts'
import type { ReplacementAction } from '../../registry/wallet-service/client.ts'
import { hashFacts } from '../../rules/decisions/decision.ts'
import type { Facts } from '../../rules/selectors/facts.ts'
import {
  type CastVote,
  differenceOfApproval,
  type RecordedRequirement,
  readCreation,
} from '../../rules/votes/compare-approval.ts'
import { hashPayload, type Payload } from '../orders/payload.ts'
import { isPhaseOf } from './lifecycle.ts'
import { listStoredOrders, type StoredOrder } from './queries.ts'

/** The details of a `transfer.requested` record that bind the transfer. */
export type RequestRecord = {
  status: string
  payload: Payload
  /** SHA-256 in hex. */
  payloadHash: string
  decision: string
  /** The id of the counterparty that has the address of the destination; null without a counterparty. */
  counterpartyId: string | null
  /** Codes of the policies whose votes were waived for an administrator. */
  bypassed: string[]
  /** SHA-256 in hex of the facts of the decision; absent in records of older versions. */
  factsHash?: string
  /** SHA-256 in hex of the whole decision; absent in records of older versions. */
  decisionHash?: string
  /** The requirements; absent in records of older versions. */
  requirements?: RecordedRequirement[]
  /** The place of the transfer in its payout, and the payload that was voted on there. */
  payout?: { id: string; row: number; externalId: string; payloadHash: string }
  /** SHA-256 in hex of the vote that the initiator signed, in a protected vault. */
  signedVote?: string
  /** The end of the time for votes; null when it needs no votes, absent in records of older versions. */
  expiresAt?: string | null
}

/** The details of a `payout.requested` record that bind the votes on a payout. */
export type PayoutRecord = {
  status: 'awaiting_approval' | 'approved'
  payloadHash: string
  requirements: RecordedRequirement[]
}

/** The payout that took the place of a payout according to its audit records, and the numbers of the rows that it left out. */
export function recordedReplacement(records: TargetRecord[]): { replacedBy: string | null; leftOut: number[] } {
  const details = records.find(({ action }) => action === 'payout.cancelled')?.details
  const { replacedBy = null, leftOut = [] } = (details ?? {}) as { replacedBy?: string; leftOut?: number[] }
  return { replacedBy, leftOut }
}

/** The votes in the audit records of a payout. */
export function readPayoutVotes(records: TargetRecord[]): { votes: CastVote[]; hashes: unknown[] } {
  const cast = records.filter(({ action }) => action === 'payout.voted')
  return {
    votes: cast.map(({ actorId, details }) => ({
      userId: actorId ?? '',
      decision: details.decision as CastVote['decision'],
    })),
    hashes: cast.map(({ details }) => details.payloadHash),
  }
}

/** The recorded order, after a comparison without differences. */
export type RecordedOrder = { payload: Payload; facts: Facts; isWaived: boolean; feeLimit: FeeLimit }
export type Comparison = { recorded: RecordedOrder } | { difference: string }

/** The actions that move a transfer; their records hold the status before and after. */
const movements = new Set(
  ['released', 'vetoed', 'expired', 'cancelled', 'confirmed', 'failed'].map((verb) => `transfer.${verb}`),
)
const votes: Readonly<Record<string, CastVote['decision']>> = {
  'transfer.approved': 'approve',
  'transfer.rejected': 'reject',
}

/** Compares a transfer in the tables with its audit records, which are append-only. Returns the first difference. */
export function compareWithRecord(stored: StoredOrder, records: TargetRecord[]): Comparison {
  try {
    return compare(stored, records)
  } catch {
    // Rows that were written outside the service may hold any value, such as a number without a canonical form.
    return { difference: 'its rows or its audit records cannot be read' }
  }
}

function differenceOf(stored: StoredOrder, records: TargetRecord[]): string | null {
  const compared = compareWithRecord(stored, records)
  return 'difference' in compared ? compared.difference : null
}

function compare(stored: StoredOrder, records: TargetRecord[]): Comparison {
  const found = readCreation(records, 'transfer.requested')
  if ('difference' in found) return found
  const requested = found.creation.details as RequestRecord
  const difference =
    differenceOfOrder(stored, requested) ??
    differenceOfFacts(stored, requested) ??
    differenceOfStatus(stored, statusAfter(requested.status, records)) ??
    differenceOfEnd(stored, requested) ??
    differenceOfPayout(stored, requested) ??
    differenceOfVotes(stored, requested, records)
  if (difference !== null) return { difference }
  const { payload, bypassed } = requested
  const feeLimit = readFeeLimit(payload, records)
  return { recorded: { payload, facts: stored.facts!, isWaived: bypassed.length > 0, feeLimit } }
}

/** The details of a `transfer.max_fee_raised` record: a decision on a replacement above the previous limit. */
export type RaiseRecord = { from: string; to: string; replacement: ReplacementAction; txHash: string | null }

/** The highest fee that may be paid: the ordered limit, or a limit that was permitted since. */
export type FeeLimit = {
  /** The limit in the smallest unit of the coin; null without a limit. */
  maxFee: bigint | null
  /** The last decision that raised the limit; null when the limit was never raised. */
  raise: RaiseRecord | null
}

/** Reads the limit from the audit records that the service wrote; a row or another record permits no fee. */
export function readFeeLimit({ maxFee }: Pick<Payload, 'maxFee'>, records: TargetRecord[]): FeeLimit {
  const raises = records.filter(({ action, fault }) => action === 'transfer.max_fee_raised' && fault === null)
  // Each decision raises the previous limit, so the highest is the last.
  return raises.reduce<FeeLimit>(
    (highest, { details }) => {
      const raise = details as RaiseRecord
      const to = BigInt(raise.to)
      return highest.maxFee !== null && to > highest.maxFee ? { maxFee: to, raise } : highest
    },
    { maxFee: maxFee === undefined ? null : BigInt(maxFee), raise: null },
  )
}

/** An order and its state according to its audit records alone. */
export type RecordedState = {
  order: Payload
  status: OperationStatus
  /** The end of the time for votes. */
  expiresAt: Date | null
  feeLimit: FeeLimit
  /** The difference between the tables and the record, or null when they agree. */
  difference: string | null
  /** The difference that remains after `restoreTransfer`, which restores the columns of the order and of the status. */
  lasting: string | null
}

/**
 * Reads the record of a transfer whose rows may be forged. The ledger, which cannot be rewritten either, must have reserved the
 * recorded amount.
 */
export function readRecordedState(
  stored: StoredOrder,
  records: TargetRecord[],
): RecordedState | { unreadable: string } {
  try {
    const found = readCreation(records, 'transfer.requested')
    if ('difference' in found) return { unreadable: found.difference }
    const { payload: order, payloadHash, status: first, expiresAt: end } = found.creation.details as RequestRecord
    if (hashPayload(order).toString('hex') !== payloadHash)
      return { unreadable: 'its recorded payload has another hash' }
    const status = statusAfter(first, records) as OperationStatus | null
    if (status === null) return { unreadable: 'its audit records contradict each other' }
    if (!isReserved(stored, order)) return { unreadable: notReserved }
    const phase = isPhaseOf(status, 'halted') ? 'halted' : 'done'
    const current = { ...order, feeLevel: order.feeLevel ?? null, maxFee: order.maxFee ?? null }
    const expiresAt = end == null ? stored.expires_at : new Date(end)
    const restored: StoredOrder = {
      ...stored,
      status,
      phase,
      expires_at: expiresAt,
      current,
      payload: order,
      payload_hash: hashPayload(order),
    }
    const [difference, lasting] = [differenceOf(stored, records), differenceOf(restored, records)]
    return { order, status, expiresAt, feeLimit: readFeeLimit(order, records), difference, lasting }
  } catch {
    return { unreadable: 'its audit records cannot be read' }
  }
}

/** The fields that stand only in the payload, whose hash is compared. */
const withoutColumn: ReadonlySet<string> = new Set(['rulesVersion', 'expiresAt'])

function differenceOfOrder(stored: StoredOrder, { payload, payloadHash }: RequestRecord): string | null {
  const columns = (Object.keys(payload) as (keyof Payload)[]).filter((field) => !withoutColumn.has(field))
  const fields = new Set([...(columns as (keyof StoredOrder['current'])[]), 'feeLevel', 'maxFee'] as const)
  const changed = [...fields].find((field) => stored.current[field] !== (payload[field] ?? null))
  if (changed !== undefined) return `its ${changed} was changed`
  const hashes = [hashPayload(payload), hashPayload(stored.payload), stored.payload_hash]
  if (hashes.some((hash) => hash.toString('hex') !== payloadHash)) return 'its payload was changed'
  return isReserved(stored, payload) ? null : notReserved
}

const notReserved = 'the ledger did not reserve the recorded amount for it'

function isReserved({ reserved }: StoredOrder, { amount, tokenId, fromAddressId }: Payload): boolean {
  return reserved?.amount === amount && reserved.tokenId === tokenId && reserved.addressId === fromAddressId
}

/** Compares the facts of the decision with their recorded hash, and with the columns that repeat them. */
function differenceOfFacts(stored: StoredOrder, requested: RequestRecord): string | null {
  const { decision, factsHash, payload, counterpartyId } = requested
  const { facts, effect, decimals } = stored
  if (facts === null || effect !== decision) return 'its decision was changed'
  if (factsHash !== undefined && hashFacts(facts) !== factsHash) return 'the facts of its decision were changed'
  if (stored.counterparty_id !== counterpartyId) return 'its counterparty was changed'
  if (stored.to_address_key !== facts.destination?.key) return 'the key of its recipient was changed'
  if (stored.token_code !== facts.token?.code || formatDecimal(payload.amount, decimals ?? 0) !== facts.amount) {
    return 'the code or the decimals of its token were changed'
  }
  return null
}

function differenceOfStatus({ status, phase }: StoredOrder, recorded: string | null): string | null {
  if (recorded === null) return 'its audit records contradict each other'
  if (status !== recorded) return `it is ${status}, and according to its audit records ${recorded}`
  return isPhaseOf(recorded, phase) ? null : `it is ${status} and in the phase ${phase}`
}

/** An earlier end is no difference: it only ends the vote sooner, and the record says so. */
function differenceOfEnd({ expires_at }: StoredOrder, { expiresAt }: RequestRecord): string | null {
  if (expiresAt == null) return null
  const isLater = expires_at === null || expires_at > new Date(expiresAt)
  return isLater ? 'its time to vote was extended' : null
}

/** Returns the status after the recorded moves; null when the moves do not form a single path from the first status. */
function statusAfter(first: string, records: TargetRecord[]): string | null {
  let status = first
  const left = records.filter(({ action }) => movements.has(action))
  while (left.length > 0) {
    const next = left.findIndex(({ details }) => details.from === status)
    if (next === -1) return null
    status = String(left.splice(next, 1)[0]!.details.to)
  }
  return status
}

/**
 * Compares the payout of a transfer. The votes on a payout are the votes on each of its transfers, which waits until the payout
 * has them.
 */
function differenceOfPayout(stored: StoredOrder, { payout }: RequestRecord): string | null {
  const { payout_id, payout_row, external_id, is_replaced } = stored
  if (payout === undefined)
    return payout_id === null && external_id === null && !is_replaced ? null : 'it was put into a payout'
  if (payout_id !== payout.id || payout_row !== payout.row || external_id !== payout.externalId)
    return 'its place in its payout was changed'
  const found = readCreation(stored.payoutRecords, 'payout.requested')
  if ('difference' in found) return `its payout: ${found.difference}`
  const { status, payloadHash, requirements } = found.creation.details as PayoutRecord
  if (payloadHash !== payout.payloadHash) return 'its payout is another than recorded'
  const { replacedBy, leftOut } = recordedReplacement(stored.payoutRecords)
  if (is_replaced !== (replacedBy !== null && !leftOut.includes(payout.row)))
    return 'whether its reference stands in another payout was changed'
  const { votes, hashes } = readPayoutVotes(stored.payoutRecords)
  if (hashes.some((hash) => hash !== payloadHash)) return 'a recorded vote is for another payout'
  const isReleased = stored.status === 'pending' || stored.status === 'confirmed'
  const isApproved = status === 'awaiting_approval' && isReleased
  return differenceOfApproval(stored.approval, { requirements, votes }, isApproved)
}

function differenceOfVotes(
  stored: StoredOrder,
  { requirements, payloadHash, decision, payout }: RequestRecord,
  records: TargetRecord[],
): string | null {
  // People vote on the payout, not on a row of it.
  if (payout !== undefined) return records.some(({ action }) => action in votes) ? 'it was voted on by itself' : null
  const cast = records.filter(({ action }) => action in votes)
  if (cast.some(({ details }) => details.payloadHash !== payloadHash)) return 'a recorded vote is for another order'
  const recorded = cast.map(({ action, actorId }) => ({ userId: actorId ?? '', decision: votes[action]! }))
  const isApproved = decision === 'approval' && (stored.status === 'pending' || stored.status === 'confirmed')
  return differenceOfApproval(stored.approval, { requirements: requirements ?? null, votes: recorded }, isApproved)
}

/** Compares every transfer, its decision, votes and status with the audit records. */
export function verifyTransfers(db: Db): Promise<SubjectReport> {
  return verifySubjects(db, {
    table: 'transfers',
    targetType: 'transfer',
    firstAction: 'transfer.requested',
    listStored: listStoredOrders,
    differenceOf,
  })
}
