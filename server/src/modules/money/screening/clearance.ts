import type { Trx } from '../../../db/client.ts'
import { screeningValidMinutes } from '../../../lib/limits.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import { askAnew, findScreening, type ScreenedSubject, type ScreeningRow } from './queries.ts'

/** What stands of a transfer's screening at its hand-over. */
export type Clearance = {
  /** Whether it may be handed over as far as the screening is concerned. */
  isClear: boolean
  /** The score of the answer, for policies; null: there is no answer. */
  score: number | null
}

/**
 * Only two things let a transfer pass: an answer `allow` that is not too old, and two people who released the hold of the
 * screening. Both count only as the audit records have them too, which nobody can rewrite. Everything else waits, and what
 * has no answer that may still count is asked about.
 */
export async function clearTransfer(trx: Trx, vaultId: string, id: string, now: Date): Promise<Clearance> {
  const subject: ScreenedSubject = { vaultId, subjectType: 'transfer', subjectId: id }
  const row = await findScreening(trx, subject)
  const score = row?.score ?? null
  if (row !== null && ((await isAllowed(trx, row, now)) || (await isWaived(trx, row)))) return { isClear: true, score }
  const isOver = row === null || row.verdict === 'allow' || row.waived_hold_id !== null
  if (isOver) await askAnew(trx, subject, now)
  return { isClear: false, score: isOver ? null : score }
}

async function isAllowed(trx: Trx, { vault_id, subject_id, id, verdict, answered_at }: ScreeningRow, now: Date) {
  if (verdict !== 'allow' || answered_at === null) return false
  if (now.getTime() - answered_at.getTime() > screeningValidMinutes * 60_000) return false
  const records = await listRecordsOf(trx, vault_id, 'screening', [subject_id])
  return records.some(
    ({ fault, details }) => fault === null && details.questionId === id && details.verdict === 'allow',
  )
}

async function isWaived(trx: Trx, { vault_id, subject_id, waived_hold_id: holdId }: ScreeningRow): Promise<boolean> {
  if (holdId === null) return false
  const records = await listRecordsOf(trx, vault_id, 'hold', [holdId])
  return records.some(
    ({ fault, action, actorId, details }) =>
      fault === null && action === 'hold.released' && actorId !== null && details.subjectId === subject_id,
  )
}
