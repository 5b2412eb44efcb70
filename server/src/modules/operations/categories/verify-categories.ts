import type { Trx } from '../../../db/client.ts'
import { compareRows, type RecordedRow } from '../../record/audit/compare-rows.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'

/** What of a category decides who sees, assigns, changes and approves by it. */
const fields = [
  'appliesTo',
  'viewScope',
  'assignScope',
  'editScope',
  'approvalScope',
  'approvalThreshold',
  'allowInitiatorApproval',
  'archived',
] as const

/** Compares the scopes of the categories of a vault with the record. */
export async function verifyCategories(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const rows = await trx.selectFrom('operation_categories').selectAll().where('vault_id', '=', vaultId).execute()
  return compareRows(trx, {
    chain: vaultId,
    targetType: 'operation_category',
    actions: ['category.created', 'category.updated'],
    apply(before, { action, details }) {
      if (action === 'category.created') return pick(details.after as RecordedRow, ['key', ...fields])
      const { after = {} } = (details.changes ?? {}) as { after?: RecordedRow }
      return { ...before, ...pick(after, fields) }
    },
    rows: rows.map((row) => ({
      id: row.id,
      row: {
        key: row.key,
        appliesTo: row.applies_to,
        viewScope: row.view_scope,
        assignScope: row.assign_scope,
        editScope: row.edit_scope,
        approvalScope: row.approval_scope,
        approvalThreshold: row.approval_threshold,
        allowInitiatorApproval: row.allow_initiator_approval,
        archived: row.archived,
      },
    })),
  })
}

function pick(row: RecordedRow, names: readonly string[]): RecordedRow {
  return Object.fromEntries(names.filter((name) => name in row).map((name) => [name, row[name]]))
}
