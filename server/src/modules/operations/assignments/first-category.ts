import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { By, ByMember } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { badRequest, conflict, forbidden } from '../../../lib/errors.ts'
import type { OperationType } from '../../../lib/operations.ts'
import { type CategoryRow, findCategoryByKey, lockCategory } from '../categories/queries.ts'
import type { OperationRow } from '../feed/queries.ts'
import { needsApproval } from './approval.ts'
import { assertEditable } from './executors.ts'
import { type AssignmentRow, findAssignment, listAssignments } from './queries.ts'
import { type OperationViewer, operationViewer, rightsOf } from './rights.ts'
import { planValues, type Values } from './values.ts'
import { deleteAssignment, insertAssignment, moveToFront } from './write.ts'

/** A category that may be assigned by its name alone, and its initial values. */
export type NamedCategory = { category: CategoryRow; values: Values }

type Naming = {
  key: string
  type: OperationType
  viewer: OperationViewer
  /** The field of the request that errors name. */
  field: string
}

/**
 * Finds the category that the caller names for an operation. A name alone can assign only a category that needs nothing
 * else: neither values nor approval.
 *
 * @throws 400 with `field`, 403 for a category that the caller may see but not assign
 */
export async function findNamedCategory(db: Db | Trx, vaultId: string, naming: Naming): Promise<NamedCategory> {
  const { key, type, viewer, field } = naming
  const category = await findCategoryByKey(db, vaultId, key)
  const rights = category === null ? null : rightsOf(category, viewer)
  // A category that the viewer may not see must look like one that does not exist.
  if (category === null || rights?.canView !== true || category.archived) {
    throw badRequest(field, 'is not an active category of this vault')
  }
  if (!rights.canAssign) throw forbidden('You may not assign this category')
  if (category.applies_to !== 'both' && category.applies_to !== type) {
    throw badRequest(field, `is a category for operations of type ${category.applies_to}`)
  }
  const plan = planValues(category.fields, {}, null)
  if ('faults' in plan) throw badRequest(field, 'needs values: assign it by PUT …/categories/{categoryId}')
  if (needsApproval(category, 'category_assign')) {
    throw badRequest(field, 'needs approval: assign it by PUT …/categories/{categoryId}')
  }
  return { category, values: plan.values }
}

/** @throws 409 when the category was changed since it was found */
export async function assignNamedCategory(
  trx: Trx,
  operation: OperationRow | Pick<OperationRow, 'vault_id' | 'id' | 'type' | 'created_at'>,
  { category, values }: NamedCategory,
  by: Pick<By, 'actorId' | 'now'>,
): Promise<string> {
  const locked = await lockCategory(trx, category.vault_id, category.id, 'share')
  if (locked?.version !== category.version)
    throw conflict('The category was changed concurrently; send the request again')
  return insertAssignment(trx, operation, { category, values }, by)
}

/**
 * Makes the named category the first one of a locked operation, in place of the current first one, which is unassigned;
 * null only unassigns. Only categories that the member may see count, and both changes require the member's rights.
 *
 * @throws 400 with the field `category`, 403, 409
 */
export async function replaceFirstCategory(
  trx: Trx,
  operation: OperationRow,
  key: string | null,
  { member, now }: ByMember,
): Promise<void> {
  const [first] = await listAssignments(trx, visibleScopeOf(member), operation)
  if (key === (first?.key ?? null)) return
  const viewer = operationViewer(member, operation)
  const by = { actorId: member.userId, now }
  const next = key === null ? null : await findNext(trx, operation, key, viewer)
  if (first !== undefined) await unassign(trx, operation, first, viewer, by)
  if (next === null) return
  await moveToFront(trx, operation, 'id' in next ? next.id : await assignNamedCategory(trx, operation, next, by))
}

/** The existing assignment to move to the front, or the category to assign. */
async function findNext(
  trx: Trx,
  operation: OperationRow,
  key: string,
  viewer: OperationViewer,
): Promise<AssignmentRow | NamedCategory> {
  const category = await findCategoryByKey(trx, operation.vault_id, key)
  const assigned = category === null ? null : await findAssignment(trx, operation, category.id)
  if (assigned !== null && rightsOf(assigned, viewer).canView) return assigned
  return findNamedCategory(trx, operation.vault_id, { key, type: operation.type, viewer, field: 'category' })
}

async function unassign(
  trx: Trx,
  operation: OperationRow,
  assignment: AssignmentRow,
  viewer: OperationViewer,
  by: Pick<By, 'actorId' | 'now'>,
): Promise<void> {
  const category = (await lockCategory(trx, operation.vault_id, assignment.category_id, 'share'))!
  assertEditable(category, rightsOf(category, viewer), true)
  if (needsApproval(category, 'category_edit')) {
    throw badRequest(
      'category',
      `${assignment.key} needs approval to be replaced: unassign it by DELETE …/categories/{categoryId}`,
    )
  }
  await deleteAssignment(trx, operation, assignment, by)
}
