import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { auditVerifyPageSubjectsMax, differencesNamedMax } from '../../../lib/limits.ts'
import { isSame } from '../../record/audit/compare-rows.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import type { SubjectDifference, SubjectReport } from '../../record/audit/verify-subjects.ts'
import type { ScreeningRow } from './queries.ts'

/**
 * Compares the answers of the screening, and the decisions of people in its place, with the record, page by page. A question
 * without an answer has no record: its subject is held until there is one.
 */
export async function verifyScreenings(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const differences: SubjectDifference[] = []
  let checked = 0
  let after = { subject_type: '', subject_id: '' }
  for (;;) {
    const page = await listPage(trx, vaultId, after)
    if (differences.length < differencesNamedMax) differences.push(...(await differencesOf(trx, vaultId, page)))
    checked += page.length
    const last = page.at(-1)
    if (last === undefined || page.length < auditVerifyPageSubjectsMax) return { checked, differences }
    after = last
  }
}

async function listPage(
  trx: Trx,
  vaultId: string,
  after: Pick<SubjectKey, 'subject_type' | 'subject_id'>,
): Promise<ScreeningRow[]> {
  const { rows } = await sql<ScreeningRow>`
    select * from screenings
    where vault_id = ${vaultId} and (subject_type, subject_id) > (${after.subject_type}, ${after.subject_id})
    order by subject_type, subject_id limit ${auditVerifyPageSubjectsMax}`.execute(trx)
  return rows
}

type SubjectKey = { subject_type: string; subject_id: string }

async function differencesOf(trx: Trx, vaultId: string, page: ScreeningRow[]): Promise<SubjectDifference[]> {
  const { answers, releases, faults } = await readRecord(trx, vaultId, page)
  return page.reduce((differences, row) => {
    const detail = differenceOf(row, answers, releases)
    if (detail !== null) differences.push({ vaultId, targetType: 'screening', targetId: row.subject_id, detail })
    return differences
  }, faults)
}

/** Reads the answers about the subjects of a page, and the releases of the holds that people released instead. */
async function readRecord(trx: Trx, vaultId: string, page: ScreeningRow[]) {
  const answers = new Map<string, unknown[]>()
  const releases = new Set<string>()
  const faults: SubjectDifference[] = []
  const holdIds = page.flatMap(({ waived_hold_id: id }) => (id === null ? [] : [id]))
  const subjectIds = page.map(({ subject_id }) => subject_id)
  const ofSubjects = await listRecordsOf(trx, vaultId, 'screening', subjectIds)
  const ofHolds = holdIds.length === 0 ? [] : await listRecordsOf(trx, vaultId, 'hold', holdIds)
  for (const { action, actorId, id, targetId, details, fault, at } of [...ofSubjects, ...ofHolds]) {
    const { questionId, verdict, score, reference, subjectId } = details
    if (fault !== null) faults.push({ vaultId, targetType: 'audit_record', targetId: id, detail: fault })
    else if (action === 'screening.answered') answers.set(`${targetId} ${questionId}`, [verdict, score, reference, at])
    else if (action === 'hold.released' && actorId !== null) releases.add(`${subjectId} ${targetId}`)
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
