import type { Db } from '../../../db/client.ts'
import { isSameJson } from '../../../lib/canonical-json.ts'
import { planPayout } from '../../../lib/signed-payout.ts'
import type { TargetRecord } from '../../record/audit/record.ts'
import { type SubjectReport, verifySubjects } from '../../record/audit/verify-subjects.ts'
import { differenceOfApproval, readCreation } from '../../rules/votes/compare-approval.ts'
import { type PayoutRecord, readPayoutVotes, recordedReplacement } from '../transfers/compare-order.ts'
import type { Sum } from './payout-rows.ts'
import { hashPayout } from './payout-rows.ts'
import { listStoredPayouts, type StoredPayout } from './queries.ts'

/** The details of a `payout.requested` record. */
export type PayoutRequestRecord = PayoutRecord & {
  name: string | null
  paymentPurpose: string | null
  rowsCount: number
  sums: Sum[]
  /** Codes of the policies whose votes were waived for an administrator. */
  bypassed: string[]
  /** The payout whose place it took, with the rows that were left out. */
  replaces?: StoredPayout['replaces']
  /** SHA-256 in hex of the vote that the initiator signed, in a protected vault. */
  signedVote?: string
}

type RecordedPayout = { isWaived: boolean }
export type Comparison = { recorded: RecordedPayout } | { difference: string }

const ends = new Set(['approved', 'rejected', 'cancelled', 'expired', 'halted'].map((verb) => `payout.${verb}`))

/** Compares a payout in the tables with its audit records. Returns the first difference. */
export function compareWithRecord(stored: StoredPayout, records: TargetRecord[]): Comparison {
  try {
    return compare(stored, records)
  } catch {
    // Rows that were written outside the service may hold any value, such as a number without a canonical form.
    return { difference: 'its rows or its audit records cannot be read' }
  }
}

function compare(stored: StoredPayout, records: TargetRecord[]): Comparison {
  const found = readCreation(records, 'payout.requested')
  if ('difference' in found) return found
  const requested = found.creation.details as PayoutRequestRecord
  const difference =
    differenceOfContent(stored, requested) ??
    differenceOfStatus(stored, requested, records) ??
    differenceOfReplacement(stored, requested, records) ??
    differenceOfVotes(stored, requested, records)
  return difference === null ? { recorded: { isWaived: requested.bypassed.length > 0 } } : { difference }
}

function differenceOfContent(stored: StoredPayout, requested: PayoutRequestRecord): string | null {
  const hashes = [hashStored(stored), stored.payload_hash]
  if (hashes.some((hash) => hash.toString('hex') !== requested.payloadHash)) return 'its payload was changed'
  const { name, paymentPurpose, rowsCount, sums } = requested
  const { name: storedName, payment_purpose, rows_count, sums: storedSums } = stored
  const shown = { name: storedName, paymentPurpose: payment_purpose, rowsCount: rows_count, sums: storedSums }
  return isSameJson(shown, { name, paymentPurpose, rowsCount, sums })
    ? null
    : 'its name, its purpose or its sums were changed'
}

function hashStored({ id: payoutId, vault_id: vaultId, initiator_id: initiatorId, rows }: StoredPayout): Buffer {
  const { rulesVersion, expiresAt = null } = rows[0]?.order ?? { rulesVersion: 0 }
  if (expiresAt !== null) {
    const orders = rows.map(({ order, payloadHash }) => ({ ...order, order: payloadHash }))
    return planPayout({ payoutId, vaultId, initiatorId, rulesVersion, expiresAt }, orders).hash
  }
  const hashed = rows.map(({ externalId, transferId, payloadHash }) => ({ externalId, transferId, payloadHash }))
  return hashPayout({ payoutId, vaultId, initiatorId, rows: hashed })
}

function differenceOfStatus(
  { status }: StoredPayout,
  requested: PayoutRequestRecord,
  records: TargetRecord[],
): string | null {
  const recorded = records.filter(({ action }) => ends.has(action)).map(({ action }) => action.replace('payout.', ''))
  if (recorded.length > 1) return 'its audit records contradict each other'
  const [end = requested.status] = recorded
  return status === end ? null : `it is ${status}, and according to its audit records ${end}`
}

function differenceOfReplacement(
  { replaces, replaced_by }: StoredPayout,
  requested: PayoutRequestRecord,
  records: TargetRecord[],
): string | null {
  const isSame =
    isSameJson(replaces, requested.replaces ?? null) && replaced_by === recordedReplacement(records).replacedBy
  return isSame ? null : 'the payout that it replaces, or that replaced it, was changed'
}

function differenceOfVotes(
  { approval, status }: StoredPayout,
  { status: first, payloadHash, requirements }: PayoutRequestRecord,
  records: TargetRecord[],
): string | null {
  const { votes, hashes } = readPayoutVotes(records)
  if (hashes.some((hash) => hash !== payloadHash)) return 'a recorded vote is for another payout'
  const isApproved = first === 'awaiting_approval' && status === 'approved'
  return differenceOfApproval(approval, { requirements, votes }, isApproved)
}

/** Compares every payout, its votes and its status with the audit records; its transfers are compared separately. */
export function verifyPayouts(db: Db): Promise<SubjectReport> {
  return verifySubjects(db, {
    table: 'payouts',
    targetType: 'payout',
    firstAction: 'payout.requested',
    listStored: listStoredPayouts,
    differenceOf(stored, records) {
      const compared = compareWithRecord(stored, records)
      return 'difference' in compared ? compared.difference : null
    },
  })
}
