import type { Db } from '../../../db/client.ts'
import { type SubjectReport, verifySubjects } from '../../record/audit/verify-subjects.ts'
import { compareWithRecord } from './compare-record.ts'
import { listStoredOrders } from './queries.ts'

/** Compares every transfer, its decision, votes and status with the audit records. */
export function verifyTransfers(db: Db): Promise<SubjectReport> {
  return verifySubjects(db, {
    table: 'transfers',
    targetType: 'transfer',
    firstAction: 'transfer.requested',
    listStored: listStoredOrders,
    differenceOf(stored, records) {
      const compared = compareWithRecord(stored, records)
      return 'difference' in compared ? compared.difference : null
    },
  })
}
