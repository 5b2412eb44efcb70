import { type RawBuilder, sql } from 'kysely'
import type { By } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Part } from '../../../db/insert-rows.ts'
import { badRequest, conflict, forbidden } from '../../../lib/errors.ts'
import type { OperationType } from '../../../lib/operations.ts'
import { planValues, type Values } from '../categories/field-values.ts'
import type { CategoryFieldRow, CategoryRow } from '../categories/queries.ts'
import { type OperationViewer, type Rights, rightsOf, type Scopes } from '../categories/rights.ts'
import type { OperationRow } from '../feed/queries.ts'
import { assigning } from './assignment-rows.ts'

/** A category that may be assigned by its name alone, and its initial values. */
export type NamedCategory = { category: AssignableCategory; values: Values }

/** The properties that decide whether a category may be assigned. */
export type AssignableCategory = Scopes &
  Pick<CategoryRow, 'vault_id' | 'id' | 'key' | 'version' | 'archived' | 'applies_to' | 'approval_scope'> & {
    fields: Pick<
      CategoryFieldRow,
      'key' | 'type' | 'options_json' | 'scale' | 'required' | 'default_json' | 'archived'
    >[]
  }

/** SQL: returns JSON of an `AssignableCategory`, as a column of another statement, or null when there is no such category. */
export const categoryByKey = (vaultId: string, key: string | null): RawBuilder<AssignableCategory | null> => sql`(
  select jsonb_build_object('vault_id', c.vault_id, 'id', c.id, 'key', c.key, 'version', c.version, 'archived', c.archived,
    'applies_to', c.applies_to, 'approval_scope', c.approval_scope, 'view_scope', c.view_scope,
    'assign_scope', c.assign_scope, 'edit_scope', c.edit_scope,
    'fields', (
      select coalesce(jsonb_agg(to_jsonb(f) order by f.order_index, f.created_at, f.id), '[]')
      from category_fields f where f.vault_id = c.vault_id and f.category_id = c.id),
    'grants', (
      select coalesce(jsonb_agg(jsonb_build_object('subject', g.subject, 'subject_type', g.subject_type,
        'subject_id', g.subject_id, 'can_view', g.can_view, 'can_assign', g.can_assign, 'can_edit', g.can_edit)), '[]')
      from category_grants g where g.vault_id = c.vault_id and g.category_id = c.id))
  from operation_categories c where c.vault_id = ${vaultId} and c.key = ${key})`

type Naming = {
  type: OperationType
  viewer: OperationViewer
  /** The field of the request that errors name. */
  field: string
}

/**
 * Returns the category that the caller names for an operation, or null when there is no such category. A name alone can
 * assign only a category that needs neither values nor approval.
 *
 * @throws 400 with `field`, 403 for a category that the caller may see but not assign
 */
export function nameCategory(category: AssignableCategory | null, { type, viewer, field }: Naming): NamedCategory {
  const rights = category === null ? null : rightsOf(category, viewer)
  // A category that the viewer may not see must look like one that does not exist.
  if (category === null || rights?.canView !== true || category.archived) {
    throw badRequest(field, 'is not an active category of this vault')
  }
  assertAssignable(category, type, rights, field)
  const plan = planValues(category.fields, {}, null)
  if ('faults' in plan) throw badRequest(field, 'needs values: assign it by PUT …/categories/{categoryId}')
  if (needsApproval(category, 'category_assign')) {
    throw badRequest(field, 'needs approval: assign it by PUT …/categories/{categoryId}')
  }
  return { category, values: plan.values }
}

/** @throws 403, 409 when it is archived, 400 when it does not apply to the operation */
export function assertAssignable(
  category: Pick<CategoryRow, 'archived' | 'applies_to'>,
  type: OperationType,
  { canAssign }: Rights,
  field = 'categoryId',
): void {
  if (!canAssign) throw forbidden('not_permitted', 'You may not assign this category')
  if (category.archived) throw conflict('archived', 'The category is archived')
  if (category.applies_to !== 'both' && category.applies_to !== type) {
    throw badRequest(field, `is a category for operations of type ${category.applies_to}`)
  }
}

export type AssignmentAction = 'category_assign' | 'category_edit'

/** Returns true if the change needs votes of the approvers of the category. The removal of an assignment counts as an edit. */
export function needsApproval({ approval_scope }: Pick<CategoryRow, 'approval_scope'>, action: AssignmentAction) {
  return approval_scope === 'assign_and_edit' || (approval_scope === 'edit' && action === 'category_edit')
}

/**
 * SQL: the parts that assign a named category to an operation, which may be a row of the same statement. The category
 * is locked until the transaction ends. If it changed since it was found, the statement ends with a 409.
 */
export function assigningNamed(
  trx: Trx,
  operation: Pick<OperationRow, 'vault_id' | 'id' | 'type' | 'created_at'>,
  { category, values }: NamedCategory,
  by: Pick<By, 'actorId' | 'now'>,
): { id: string; parts: Part[] } {
  const { vault_id, id, version } = category
  const unchanged = {
    update: sql`select c.id from operation_categories c
      where c.vault_id = ${vault_id} and c.id = ${id} and c.version = ${version} for share`,
    rows: 1,
    otherwise: () => conflict('changed_concurrently', 'The category was changed concurrently; send the request again'),
  }
  const assigned = assigning(trx, operation, { category, values }, by)
  return { ...assigned, parts: [unchanged, ...assigned.parts] }
}
