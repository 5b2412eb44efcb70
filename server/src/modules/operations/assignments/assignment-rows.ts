import { sql } from 'kysely'
import type { By } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { newId } from '../../../lib/ids.ts'
import { audit } from '../../record/audit/record.ts'
import type { OperationRow } from '../feed/queries.ts'
import type { AssignmentRow } from './queries.ts'
import type { Values } from './values.ts'

/** The caller holds the lock on the operation, so that its assignments are changed one after the other. */
type Operation = Pick<OperationRow, 'vault_id' | 'id' | 'type' | 'created_at'>
type Author = Pick<By, 'actorId' | 'now'>
type Named = { id: string; key: string }

/** @returns the id of the assignment */
export async function insertAssignment(
  trx: Trx,
  operation: Operation,
  { category, values }: { category: Named; values: Values },
  { actorId, now }: Author,
): Promise<string> {
  const id = newId(now)
  await trx
    .insertInto('category_assignments')
    .values({
      vault_id: operation.vault_id,
      id,
      operation_id: operation.id,
      operation_type: operation.type,
      operation_created_at: operation.created_at,
      category_id: category.id,
      values: JSON.stringify(values),
      assigned_by_id: actorId,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await record(trx, operation, 'assigned', { category, after: values }, { actorId, now })
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

/** Makes an assignment the first one of its operation, whose category `metadata.category` names. */
export async function moveToFront(trx: Trx, operation: Operation, assignmentId: string): Promise<void> {
  await sql`
    update category_assignments set position = (
      select min(a.position) - 1 from category_assignments a
      where a.vault_id = ${operation.vault_id} and a.operation_id = ${operation.id})
    where vault_id = ${operation.vault_id} and id = ${assignmentId}`.execute(trx)
}

const categoryOf = ({ category_id: id, key }: AssignmentRow): Named => ({ id, key })

/** The record names the operation, so that the audit log and the evidence of the operation include it. */
async function record(
  trx: Trx,
  operation: Operation,
  verb: 'assigned' | 'edited' | 'unassigned',
  { category, before = null, after = null }: { category: Named; before?: Values | null; after?: Values | null },
  by: Author,
): Promise<void> {
  const details = { categoryId: category.id, categoryKey: category.key, before, after }
  await audit(trx, { ...by, vaultId: operation.vault_id }, `category_assignment.${verb}`, operation, details)
}
