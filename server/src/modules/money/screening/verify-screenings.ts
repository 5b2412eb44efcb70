import type { Trx } from '../../../db/client.ts'
import { isSame } from '../../record/audit/compare-rows.ts'
import { replay } from '../../record/audit/queries.ts'
import type { SubjectDifference, SubjectReport } from '../../record/audit/verify-subjects.ts'
import type { ScreeningRow } from './queries.ts'

/**
 * Compares the answers of the screening, and the decisions of people in its place, with the record. A question without an
 * answer has no record: its subject is held until there is one.
 */
export async function verifyScreenings(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const differences: SubjectDifference[] = []
  const { answers, releases, faults } = await readRecord(trx, vaultId)
  const rows = (await trx
    .selectFrom('screenings')
    .selectAll()
    .where('vault_id', '=', vaultId)
    .execute()) as ScreeningRow[]
  for (const row of rows) {
    const detail = differenceOf(row, answers, releases)
    if (detail !== null) differences.push({ vaultId, targetType: 'screening', targetId: row.subject_id, detail })
  }
  return { checked: rows.length, differences: [...faults, ...differences] }
}

async function readRecord(trx: Trx, vaultId: string) {
  const answers = new Map<string, unknown[]>()
  const releases = new Set<string>()
  const faults: SubjectDifference[] = []
  for await (const { action, actorId, id, targetId, details, fault, at } of replay(trx, vaultId, [
    'screening.answered',
    'hold.released',
  ])) {
    const { questionId, verdict, score, reference, subjectId } = details
    if (fault !== null) faults.push({ vaultId, targetType: 'audit_record', targetId: id, detail: fault })
    else if (action === 'screening.answered') answers.set(`${targetId} ${questionId}`, [verdict, score, reference, at])
    else if (actorId !== null) releases.add(`${subjectId} ${targetId}`)
  }
  return { answers, releases, faults }
}

function differenceOf(row: ScreeningRow, answers: Map<string, unknown[]>, releases: Set<string>): string | null {
  const { id, subject_id: subjectId, verdict, score, reference, answered_at, waived_hold_id } = row
  const stored = [verdict, score, reference, answered_at]
  const isOpen = stored.every((value) => value === null)
  if (!isOpen && !isSame(stored, answers.get(`${subjectId} ${id}`))) return 'not as recorded: answer'
  return waived_hold_id === null || releases.has(`${subjectId} ${waived_hold_id}`)
    ? null
    : 'no audit record says that people decided instead'
}
