import { type Asker, visibleScopeOf } from '../../../access/address-scope.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { badRequest, conflict, forbidden } from '../../../lib/errors.ts'
import { type CategoryRow, findCategoryByKey, lockCategory } from '../categories/queries.ts'
import type { OperationRow, OperationType } from '../feed/queries.ts'
import { assertEditable } from './appliers.ts'
import { needsApproval } from './approval.ts'
import { type AssignmentRow, findAssignment, listAssignments } from './queries.ts'
import { rightsOf, type Standing } from './rights.ts'
import { standingOf } from './standing.ts'
import { planValues, type Values } from './values.ts'
import { deleteAssignment, insertAssignment, moveToFront } from './write.ts'

/** A category that may be assigned by naming it, and the values it begins with. */
export type NamedCategory = { category: CategoryRow; values: Values }

type Naming = {
  key: string
  type: OperationType
  standing: Standing /** Of the request, for its faults. */
  field: string
}

/**
 * Finds the category that somebody names for an operation. By its name alone a category can be assigned that needs
 * nothing else: no values, and nobody's approval.
 *
 * @throws 400 with `field`, 403 for a category that they see and may not assign
 */
export async function findNamedCategory(db: Db | Trx, vaultId: string, naming: Naming): Promise<NamedCategory> {
  const { key, type, standing, field } = naming
  const category = await findCategoryByKey(db, vaultId, key)
  const rights = category === null ? null : rightsOf(category, standing)
  // One that is hidden from whoever asks must look like one that does not exist.
  if (category === null || rights?.canView !== true || category.archived) {
    throw badRequest(field, 'is no category of this vault that is in use')
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
  by: { actorId: string; now: Date },
): Promise<string> {
  const locked = await lockCategory(trx, category.vault_id, category.id, 'share')
  if (locked?.version !== category.version) throw conflict('The category was changed by someone else just now')
  return insertAssignment(trx, operation, { category, values }, by)
}

/**
 * Makes the named category the first one of a locked operation, in place of the one that is now, which is unassigned;
 * null only unassigns that. Whoever asks sees the categories that count here, and must have the rights to both changes.
 *
 * @throws 400 with the field `category`, 403, 409
 */
export async function replaceFirstCategory(
  trx: Trx,
  asker: Asker,
  operation: OperationRow,
  { key, now }: { key: string | null; now: Date },
): Promise<void> {
  const [first] = await listAssignments(trx, visibleScopeOf(asker), operation)
  if (key === (first?.key ?? null)) return
  const standing = standingOf(asker, operation)
  const by = { actorId: asker.userId, now }
  const next = key === null ? null : await findNext(trx, operation, { key, standing })
  if (first !== undefined) await unassign(trx, operation, first, standing, by)
  if (next === null) return
  await moveToFront(trx, operation, 'id' in next ? next.id : await assignNamedCategory(trx, operation, next, by))
}

/** The assignment of a category that only has to come first, or the category that has to be assigned. */
async function findNext(
  trx: Trx,
  operation: OperationRow,
  { key, standing }: { key: string; standing: Standing },
): Promise<AssignmentRow | NamedCategory> {
  const category = await findCategoryByKey(trx, operation.vault_id, key)
  const assigned = category === null ? null : await findAssignment(trx, operation, category.id)
  if (assigned !== null && rightsOf(assigned, standing).canView) return assigned
  return findNamedCategory(trx, operation.vault_id, { key, type: operation.type, standing, field: 'category' })
}

async function unassign(
  trx: Trx,
  operation: OperationRow,
  assignment: AssignmentRow,
  standing: Standing,
  by: { actorId: string; now: Date },
): Promise<void> {
  const category = (await lockCategory(trx, operation.vault_id, assignment.category_id, 'share'))!
  assertEditable(category, rightsOf(category, standing), true)
  if (needsApproval(category, 'category_edit')) {
    throw badRequest(
      'category',
      `${assignment.key} needs approval to be replaced: unassign it by DELETE …/categories/{categoryId}`,
    )
  }
  await deleteAssignment(trx, operation, assignment, by)
}
