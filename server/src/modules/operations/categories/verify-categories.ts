import type { Trx } from '../../../db/client.ts'
import { compareRows, type RecordedRow } from '../../record/audit/compare-rows.ts'
import type { ReplayedRecord } from '../../record/audit/queries.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'
import { draftOfRow, settingsOf } from './present.ts'
import { type CategoryRow, listAllCategories } from './queries.ts'

/** The fields of the look of a category. They affect no decision. */
const looks: ReadonlySet<string> = new Set(['name', 'description', 'emoji', 'color'])

/** Compares the categories of a vault with the record: their scopes, fields, grants and approvers. */
export async function verifyCategories(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const rows = await listAllCategories(trx, vaultId)
  return compareRows(trx, {
    chain: vaultId,
    targetType: 'operation_category',
    actions: [
      ...['created', 'updated', 'grants_replaced', 'approvers_replaced'],
      ...['field_added', 'field_updated', 'field_deleted'],
    ].map((verb) => `category.${verb}`),
    take: takeInOrder(),
    rows: rows.map((row) => ({ id: row.id, row: () => describe(row) })),
  })
}

/** Returns the row as a record holds it: fields by their id, grants and approvers by their subject. */
function describe(row: CategoryRow): RecordedRow {
  return {
    key: row.key,
    ...withoutLooks(settingsOf(row)),
    ...Object.fromEntries(row.fields.map((field) => [`field ${field.id}`, draftOfRow(field)])),
    fields: row.fields.map(({ id }) => id).toSorted(),
    grants: grantsInOrder(
      row.grants.map(({ subject, can_view: canView, can_assign: canAssign, can_edit: canEdit }) => {
        return { subject, canView, canAssign, canEdit }
      }),
    ),
    approvers: row.approvers.map(({ kind, user_id, group_id }) => `${kind}:${user_id ?? group_id}`).toSorted(),
  }
}

const withoutLooks = (settings: object): RecordedRow =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !looks.has(name)))

type Grant = { subject: string; canView: boolean; canAssign: boolean; canEdit: boolean }
const grantsInOrder = (grants: Grant[]) => grants.toSorted((a, b) => (a.subject < b.subject ? -1 : 1))

/** Returns a function that takes records of one moment in the order of the versions of their category. */
function takeInOrder() {
  const versions = new Map<string, number>()
  return (recorded: Map<string, RecordedRow>, { action, targetId, details }: ReplayedRecord): void => {
    const before = recorded.get(targetId) ?? {}
    const version = Number(details.version ?? 1)
    recorded.set(targetId, before)
    for (const [part, value] of Object.entries(partsOf(before, action, details))) {
      if (version < (versions.get(`${targetId} ${part}`) ?? 0)) continue
      versions.set(`${targetId} ${part}`, version)
      before[part] = value
    }
  }
}

type Details = {
  after?: unknown
  before?: unknown
  changes?: { after?: object } | null
  fieldId?: string
}

/** Returns the category after a record, with its fields, grants and approvers. */
function partsOf(before: RecordedRow, action: string, { after, changes, fieldId }: Details): RecordedRow {
  const fields = (before.fields ?? []) as string[]
  const field = `field ${fieldId}`
  if (action === 'category.created') return { ...withoutLooks(after as object), fields: [], grants: [], approvers: [] }
  if (action === 'category.updated') return withoutLooks(changes?.after ?? {})
  if (action === 'category.grants_replaced') return { grants: grantsInOrder(after as Grant[]) }
  if (action === 'category.approvers_replaced') return { approvers: (after as string[]).toSorted() }
  if (action === 'category.field_added') return { [field]: after, fields: [...fields, fieldId].toSorted() }
  if (action === 'category.field_updated') return { [field]: { ...(before[field] as object), ...changes?.after } }
  return { [field]: undefined, fields: fields.filter((id) => id !== fieldId) }
}
