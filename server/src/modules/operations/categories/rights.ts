import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, subjectsOf, type Viewer } from '../../../access/address-scope.ts'
import type { CategoryGrantRow, CategoryRow } from './queries.ts'

type CategoryRight = 'view' | 'assign' | 'edit'

/** The properties that decide the rights on the assignments of a category. */
export type Scopes = Pick<CategoryRow, 'view_scope' | 'assign_scope' | 'edit_scope'> & {
  grants: Pick<CategoryGrantRow, 'subject' | 'can_view' | 'can_assign' | 'can_edit'>[]
}

/** A viewer of an operation, with the properties that decide their rights to its categories. */
export type OperationViewer = {
  readsAll: boolean
  /** True if the viewer owns the address of the operation or initiated the operation. */
  isOwnOperation: boolean
  /** The viewer's names in grants: see `subjectsOf`. */
  subjects: readonly string[]
}

export function operationViewer(
  viewer: Viewer,
  operation: { owner_id: string; initiator_id: string | null },
): OperationViewer {
  const { readsAll, userId } = viewer
  const isOwnOperation = operation.owner_id === userId || operation.initiator_id === userId
  return { readsAll, isOwnOperation, subjects: subjectsOf(viewer) }
}

export type Rights = { canView: boolean; canAssign: boolean; canEdit: boolean }

/**
 * Returns the rights of a viewer of an operation on the assignment of a category to it (contract 13.4): to view it, to
 * make it, and to change or remove it. Without the right to view, there is no right to make or change it.
 * Administrators have every right. Auditors have them too, but only read: sensitive values are for editors, and the
 * guard refuses their writes. `hasCategoryRight` is the same rule in SQL.
 */
export function rightsOf(scopes: Scopes, viewer: OperationViewer): Rights {
  if (viewer.readsAll) return { canView: true, canAssign: true, canEdit: true }
  const has = (right: CategoryRight) => {
    const scope = scopes[`${right}_scope`]
    if (scope === 'vault_members') return true
    if (scope === 'owner_only') return viewer.isOwnOperation
    return scopes.grants.some((grant) => grant[`can_${right}`] && viewer.subjects.includes(grant.subject))
  }
  const canView = has('view')
  return { canView, canAssign: canView && has('assign'), canEdit: canView && has('edit') }
}

/**
 * SQL condition: the viewer has the right on assignments of the category `category` to the operation `operation`. Both
 * names are aliases, and the viewer must see the operation. It is the rule of `rightsOf` for one right. A viewer who
 * may not view an assignment may not edit it either; the caller must check that separately.
 */
export function hasCategoryRight(
  scope: AddressScope,
  right: CategoryRight,
  category: string,
  operation: string,
): RawBuilder<boolean> {
  return hasCategoryRightIf(scope, right, category, isOwnOperation(scope, operation))
}

/**
 * SQL condition: as `hasCategoryRight`, for operations that are the viewer's own if `isOwn` is true, and for other
 * operations if it is false.
 */
export function hasCategoryRightIf(
  scope: AddressScope,
  right: CategoryRight,
  category: string,
  isOwn: RawBuilder<boolean>,
): RawBuilder<boolean> {
  if (scope.viewer.readsAll) return sql<boolean>`true`
  return sql<boolean>`(case ${sql.ref(`${category}.${right}_scope`)}
    when 'vault_members' then true
    when 'owner_only' then ${isOwn}
    when 'restricted' then ${isCategoryGranted(scope, right, category)}
    else false end)`
}

/** SQL condition: the viewer owns the address of the operation of alias `operation`, or initiated the operation. */
export function isOwnOperation({ viewer }: AddressScope, operation: string): RawBuilder<boolean> {
  const owner = sql.ref(`${operation}.owner_id`)
  const initiator = sql.ref(`${operation}.initiator_id`)
  return sql<boolean>`coalesce(${viewer.userId} in (${owner}, ${initiator}), false)`
}

/** SQL condition: the right on the category of alias `category` was granted to the viewer or one of their groups. */
export function isCategoryGranted(
  { viewer }: AddressScope,
  right: CategoryRight,
  category: string,
): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from category_grants cg where cg.vault_id = ${sql.ref(`${category}.vault_id`)}
      and cg.category_id = ${sql.ref(`${category}.id`)} and ${sql.ref(`cg.can_${right}`)}
      and cg.subject = any(${viewer.subjects}::text[]))`
}

/**
 * SQL: returns the key of the category that was assigned first to the operation `operation`, an alias of a row of
 * `operations`. Only assignments that the viewer may see count; without one it is null. It is `metadata.category`.
 */
export function firstCategoryKey(scope: AddressScope, operation: string): RawBuilder<string | null> {
  return sql<string | null>`(
    select first_c.key from category_assignments first_a
    join operation_categories first_c on first_c.vault_id = first_a.vault_id and first_c.id = first_a.category_id
    where first_a.vault_id = ${sql.ref(`${operation}.vault_id`)} and first_a.operation_id = ${sql.ref(`${operation}.id`)}
      and ${hasCategoryRight(scope, 'view', 'first_c', operation)}
    order by first_a.position, first_a.created_at, first_a.id limit 1)`
}
