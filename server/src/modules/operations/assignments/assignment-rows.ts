import { sql } from 'kysely'
import type { By } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { insertsOf, type Part, runParts } from '../../../db/insert-rows.ts'
import { newId } from '../../../lib/ids.ts'
import { audit, toAuditRow } from '../../record/audit/record.ts'
import type { Values } from '../categories/field-values.ts'
import type { OperationRow } from '../feed/queries.ts'
import type { AssignmentRow } from './queries.ts'

/** An operation that the caller has locked, so that its assignments are changed one after the other. */
type Operation = Pick<OperationRow, 'vault_id' | 'id' | 'type' | 'created_at'>
type Author = Pick<By, 'actorId' | 'now'>
type Named = { id: string; key: string }

/** SQL: the parts that insert an assignment with its record, and the id of the assignment. */
export function assigning(
  trx: Trx,
  operation: Operation,
  { category, values }: { category: Named; values: Values },
  by: Author,
): { id: string; parts: Part[] } {
  const id = newId(by.now)
  const assignment = {
    vault_id: operation.vault_id,
    id,
    operation_id: operation.id,
    operation_type: operation.type,
    operation_created_at: operation.created_at,
    category_id: category.id,
    values,
    assigned_by_id: by.actorId!,
    created_at: by.now,
    updated_at: by.now,
  }
  const { type: targetType, id: targetId, vault_id: vaultId } = operation
  const event = { ...by, vaultId, targetType, targetId, action: 'category_assignment.assigned' }
  const record = toAuditRow(trx, { ...event, details: detailsOf({ category, after: values }) })
  return { id, parts: insertsOf({ category_assignments: [assignment], audit_records: [record] }) }
}

/** @returns the id of the assignment */
export async function insertAssignment(
  trx: Trx,
  operation: Operation,
  assigned: { category: Named; values: Values },
  by: Author,
): Promise<string> {
  const { id, parts } = assigning(trx, operation, assigned, by)
  await runParts(trx, parts)
  return id
}

/** Increments the version once, whether or not a value differs. */
export async function updateAssignment(
  trx: Trx,
  operation: Operation,
  { assignment, values }: { assignment: AssignmentRow; values: Values },
  by: Author,
): Promise<void> {
  await trx
    .updateTable('category_assignments')
    .set((value) => ({ values: JSON.stringify(values), version: value('version', '+', 1), updated_at: by.now }))
    .where('vault_id', '=', assignment.vault_id)
    .where('id', '=', assignment.id)
    .execute()
  const category = categoryOf(assignment)
  await record(trx, operation, 'edited', { category, before: assignment.values, after: values }, by)
}

export async function deleteAssignment(
  trx: Trx,
  operation: Operation,
  assignment: AssignmentRow,
  by: Author,
): Promise<void> {
  await trx
    .deleteFrom('category_assignments')
    .where('vault_id', '=', assignment.vault_id)
    .where('id', '=', assignment.id)
    .execute()
  await record(trx, operation, 'unassigned', { category: categoryOf(assignment), before: assignment.values }, by)
}

/** Makes an assignment the first one of its operation. `metadata.category` names the category of the first assignment. */
export async function moveToFront(trx: Trx, operation: Operation, assignmentId: string): Promise<void> {
  await sql`
    update category_assignments set position = (
      select min(a.position) - 1 from category_assignments a
      where a.vault_id = ${operation.vault_id} and a.operation_id = ${operation.id})
    where vault_id = ${operation.vault_id} and id = ${assignmentId}`.execute(trx)
}

const categoryOf = ({ category_id: id, key }: AssignmentRow): Named => ({ id, key })

type Change = { category: Named; before?: Values | null; after?: Values | null }

const detailsOf = ({ category, before = null, after = null }: Change) => ({
  categoryId: category.id,
  categoryKey: category.key,
  before,
  after,
})

/** Writes the audit record. It names the operation, so that the audit log and the evidence of the operation include it. */
async function record(
  trx: Trx,
  operation: Operation,
  verb: 'edited' | 'unassigned',
  change: Change,
  by: Author,
): Promise<void> {
  const author = { ...by, vaultId: operation.vault_id }
  await audit(trx, author, `category_assignment.${verb}`, operation, detailsOf(change))
}
