import type { Db } from '../../../db/client.ts'
import { isSameJson } from '../../../lib/canonical-json.ts'
import type { TargetRecord } from '../../record/audit/record.ts'
import { type SubjectReport, verifySubjects } from '../../record/audit/verify-subjects.ts'
import {
  type CastVote,
  differenceOfApproval,
  type RecordedRequirement,
  readCreation,
} from '../votes/compare-approval.ts'
import { listStoredRequests, type StoredRequest } from './queries.ts'
import { boundPayloadOf, hashPayload, type StepResult } from './steps.ts'

/** The details of an `approval_request.created` record that are compared with the request. */
export type CreationRecord = {
  /** SHA-256 in hex: it binds action, steps and initiator. */
  payloadHash: string
  /** Absent in records of older versions. */
  requirements?: RecordedRequirement[]
}

/** Compares a request in the tables with its audit records. Returns the first difference, or null. */
export function differenceFromRecord(stored: StoredRequest, records: TargetRecord[]): string | null {
  try {
    return findDifference(stored, records)
  } catch {
    // Rows that the service did not write may hold any value, such as a number without a canonical form.
    return 'its rows or its audit records cannot be read'
  }
}

function findDifference(stored: StoredRequest, records: TargetRecord[]): string | null {
  const found = readCreation(records, 'approval_request.created')
  if ('difference' in found) return found.difference
  const { creation } = found
  const { payloadHash, requirements } = creation.details as CreationRecord

  const { status } = stored
  const hashes = [hashPayload(boundPayloadOf(stored)), stored.payload_hash]
  if (hashes.some((hash) => hash.toString('hex') !== payloadHash)) return 'its payload was changed'

  const ballots = records.filter((record) => record.action === 'approval_request.voted')
  const resolutions = records.filter((record) => record !== creation && !ballots.includes(record))
  const recorded = resolutions.map((resolution) => resolution.action.replace('approval_request.', ''))
  if (recorded.length > 1) return 'its audit records contradict each other'
  const [end = 'pending'] = recorded
  if (status !== end) return `it is ${status}, and according to its audit records ${end}`
  if (!isOutcomeSame(stored, resolutions[0])) return 'its results were changed'

  if (ballots.some(({ details }) => details.payloadHash !== payloadHash))
    return 'a recorded vote is for another request'
  const votes = ballots.map(({ actorId, details }) => ({
    userId: actorId ?? '',
    decision: details.decision as CastVote['decision'],
  }))
  return differenceOfApproval(stored.approval, { requirements: requirements ?? null, votes }, status === 'applied')
}

/** Returns true if the stored outcome of a request equals the recorded outcome, which its voters approved. */
function isOutcomeSame(
  { results, resolved_result_id: resultId, failure_reason: failureReason }: StoredRequest,
  resolution: TargetRecord | undefined,
): boolean {
  const { results: recorded = null, failureReason: reason = null } = (resolution?.details ?? {}) as Outcome
  const outcome = { results, resultId, failureReason }
  return isSameJson(outcome, { results: recorded, resultId: recorded?.at(-1)?.resultId ?? null, failureReason: reason })
}

/** The details of the record of a resolution. */
type Outcome = { results?: StepResult[] | null; failureReason?: string | null }

/** Compares every approval request, its votes and its status with the audit records. */
export function verifyRequests(db: Db): Promise<SubjectReport> {
  return verifySubjects(db, {
    table: 'approval_requests',
    targetType: 'approval_request',
    firstAction: 'approval_request.created',
    listStored: listStoredRequests,
    differenceOf: differenceFromRecord,
  })
}
