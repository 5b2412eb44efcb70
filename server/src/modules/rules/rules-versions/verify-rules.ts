import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { isSame } from '../../record/audit/compare-rows.ts'
import { replay } from '../../record/audit/queries.ts'
import type { SubjectDifference, SubjectReport } from '../../record/audit/verify-subjects.ts'
import type { RulesDocument } from './document-schema.ts'
import { readGovernance } from './read-governance.ts'
import { hashOfRules, noGovernance, readRules } from './rules-document.ts'
import { type FullVersionRow, findVersion, newestNumber } from './versions.ts'

/** The parts of the rules that change only with a new version. */
const published = [
  'governance',
  'groups',
  'policies',
  'categories',
  'wallet',
  'variants',
  'serviceKeys',
] as const satisfies (keyof RulesDocument)[]

/** Compares the governance of a vault with the record, and its rules with the version that was published last. */
export async function verifyRules(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const differences: SubjectDifference[] = []
  const name = (targetType: string, targetId: string, detail: string) =>
    differences.push({ vaultId, targetType, targetId, detail })

  let recorded: Record<string, unknown> = { ...noGovernance }
  for await (const { fault, id, details } of replay(trx, vaultId, ['governance.updated', 'governance.reset'])) {
    if (fault !== null) name('governance', vaultId, `its audit record ${id}: ${fault}`)
    recorded = { ...recorded, ...(details.after as Record<string, unknown>) }
  }
  const stored: Record<string, unknown> = { ...(await readGovernance(trx, vaultId)) }
  const names = Object.keys(recorded).filter((field) => recorded[field] !== stored[field])
  if (names.length > 0) name('governance', vaultId, `not as recorded: ${names.join(', ')}`)

  const number = await newestNumber(trx, vaultId)
  if (number === 0) return { checked: 1, differences }
  const version = await findVersion(trx, vaultId, number)
  if (version === null) {
    name('rules_version', String(number), 'its row is gone')
    return { checked: 1, differences }
  }
  if (!hasItsHash(version)) {
    name('rules_version', String(number), 'its document does not have its hash')
  }
  const document = await readRules(trx, vaultId)
  for (const part of published) {
    if (!isSame(document[part], version.document[part])) {
      name('rules', part, `not as version ${number} was published`)
    }
  }
  return { checked: 1, differences }
}

function hasItsHash({ document, hash }: FullVersionRow): boolean {
  try {
    return hashOfRules(document).equals(hash)
  } catch {
    return false
  }
}

/** Checks that the numbers of versions have no gap; a deletion or an addition leaves a gap. */
export async function verifyVersionNumbers(trx: Trx): Promise<SubjectDifference[]> {
  const { rows } = await sql<{ vaultId: string; head: number; count: number; highest: number }>`
    select h.vault_id as "vaultId", h.number as head, count(v.number)::int as count,
      coalesce(max(v.number), 0) as highest
    from rules_heads h left join rules_versions v on v.vault_id = h.vault_id
    group by h.vault_id, h.number having count(v.number) <> h.number or coalesce(max(v.number), 0) <> h.number
    order by h.vault_id`.execute(trx)
  return rows.map(({ vaultId, head, count, highest }) => ({
    vaultId,
    targetType: 'rules_version',
    targetId: String(head),
    detail: `there are ${count} versions up to ${highest}, and the newest should be ${head}`,
  }))
}
