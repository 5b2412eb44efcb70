import type { Selectable } from 'kysely'
import type { Db } from '../../../db/client.ts'
import type { Holds } from '../../../db/types.ts'
import type { TargetRecord } from '../../record/audit/record.ts'
import { type SubjectReport, verifySubjects } from '../../record/audit/verify-subjects.ts'

/** Compares every hold and its end with the audit records. */
export function verifyHolds(db: Db): Promise<SubjectReport> {
  return verifySubjects(db, {
    table: 'holds',
    targetType: 'hold',
    firstAction: 'hold.placed',
    listStored: (trx, vaultId, ids) =>
      trx.selectFrom('holds').selectAll().where('vault_id', '=', vaultId).where('id', 'in', ids).execute(),
    differenceOf,
  })
}

function differenceOf(hold: Selectable<Holds>, records: TargetRecord[]): string | null {
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
    (details.origin ?? 'people') === hold.origin &&
    (details.endsAt ?? null) === (hold.ends_at?.toISOString() ?? null) &&
    (details.becauseOfId ?? null) === hold.because_of_id &&
    actorId === hold.placed_by_id
  if (!isSame) return 'it is on something else, or by somebody else, than was recorded'
  const confirmation = differenceOfConfirmation(hold, records)
  if (confirmation !== null) return confirmation
  const [end, another] = released
  if (another !== undefined) return 'it was released more than once'
  if ((end !== undefined) !== (hold.released_at !== null)) {
    return end === undefined ? 'it is released, and not according to its audit records' : 'its release was taken back'
  }
  const isEndSame =
    end === undefined || (end.actorId === hold.released_by_id && end.details.reason === hold.release_reason)
  return isEndSame ? null : 'its release is not as recorded'
}

/** Compares the confirmation of a hold with the audit records, because a confirmed hold on a user has no end. */
function differenceOfConfirmation(hold: Selectable<Holds>, records: TargetRecord[]): string | null {
  const [confirmed, another] = records.filter(({ action }) => action === 'hold.confirmed')
  if (another !== undefined) return 'it was confirmed more than once'
  const isSame = (confirmed?.actorId ?? null) === hold.confirmed_by_id
  return isSame ? null : 'it is not confirmed as recorded'
}
