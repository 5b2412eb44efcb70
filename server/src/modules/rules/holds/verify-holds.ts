import type { Db, Trx } from '../../../db/client.ts'
import type { TargetRecord } from '../../record/audit/content.ts'
import { type SubjectReport, verifySubjects } from '../../record/audit/verify-subjects.ts'

type StoredHold = {
  id: string
  subject_type: string
  subject_id: string
  reason: string
  placed_by_id: string | null
  released_at: Date | null
  released_by_id: string | null
  release_reason: string | null
}

/** Compares every hold, and that it ended, with the record. */
export function verifyHolds(db: Db): Promise<SubjectReport> {
  return verifySubjects<StoredHold>(db, {
    table: 'holds',
    targetType: 'hold',
    firstAction: 'hold.placed',
    listStored: (trx: Trx, vaultId: string, ids: string[]) =>
      trx
        .selectFrom('holds')
        .select([
          'id',
          'subject_type',
          'subject_id',
          'reason',
          'placed_by_id',
          'released_at',
          'released_by_id',
          'release_reason',
        ])
        .where('vault_id', '=', vaultId)
        .where('id', 'in', ids)
        .execute(),
    differenceOf,
  })
}

function differenceOf(hold: StoredHold, records: TargetRecord[]): string | null {
  const faulty = records.find(({ fault }) => fault !== null)
  if (faulty !== undefined) return `its audit record ${faulty.id}: ${faulty.fault}`
  const placed = records.filter(({ action }) => action === 'hold.placed')
  const released = records.filter(({ action }) => action === 'hold.released')
  if (placed.length !== 1) return placed.length === 0 ? 'no audit record places it' : 'it was placed more than once'
  const { details, actorId } = placed[0]!
  const isSame =
    details.subjectType === hold.subject_type &&
    details.subjectId === hold.subject_id &&
    details.reason === hold.reason &&
    actorId === hold.placed_by_id
  if (!isSame) return 'it is on something else, or by somebody else, than was recorded'
  const [end, another] = released
  if (another !== undefined) return 'it was released more than once'
  if ((end !== undefined) !== (hold.released_at !== null)) {
    return end === undefined ? 'it is released, and not according to its audit records' : 'its release was taken back'
  }
  const isEndSame =
    end === undefined || (end.actorId === hold.released_by_id && end.details.reason === hold.release_reason)
  return isEndSame ? null : 'its release is not as recorded'
}
