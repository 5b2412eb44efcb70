import type { Db } from '../../../db/client.ts'
import { type SubjectReport, verifySubjects } from '../../record/audit/verify-subjects.ts'
import { differenceFromRecord } from './compare-record.ts'
import { listStoredRequests } from './queries.ts'

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
