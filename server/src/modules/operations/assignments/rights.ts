import { subjectsOf, type Viewer } from '../../../access/address-scope.ts'
import type { CategoryGrantRow, CategoryRow } from '../categories/queries.ts'
import type { OperationRow } from '../feed/queries.ts'

export type CategoryRight = 'view' | 'assign' | 'edit'

/** The properties that decide the rights on the assignments of a category. */
export type Scopes = Pick<CategoryRow, 'view_scope' | 'assign_scope' | 'edit_scope'> & {
  grants: Pick<CategoryGrantRow, 'subject' | 'can_view' | 'can_assign' | 'can_edit'>[]
}

/** A viewer of an operation, with the properties that decide their rights to its categories. */
export type OperationViewer = {
  isAdmin: boolean
  /** The viewer owns the address of the operation, or initiated the operation. */
  isOwnOperation: boolean
  /** The viewer's names in grants: see `subjectsOf`. */
  subjects: readonly string[]
}

export function operationViewer(
  viewer: Viewer,
  operation: Pick<OperationRow, 'owner_id' | 'initiator_id'>,
): OperationViewer {
  const { isAdmin, userId } = viewer
  const isOwnOperation = operation.owner_id === userId || operation.initiator_id === userId
  return { isAdmin, isOwnOperation, subjects: subjectsOf(viewer) }
}

export type Rights = { canView: boolean; canAssign: boolean; canEdit: boolean }

/**
 * What a viewer of an operation may do with a category on it (contract 13.4): view its assignment, make it, and change or
 * remove it. Without the right to view, there is no right to make or change it. Administrators have every right.
 * `hasCategoryRight` is the same rule in SQL.
 */
export function rightsOf(scopes: Scopes, viewer: OperationViewer): Rights {
  if (viewer.isAdmin) return { canView: true, canAssign: true, canEdit: true }
  const has = (right: CategoryRight) => {
    const scope = scopes[`${right}_scope`]
    if (scope === 'vault_members') return true
    if (scope === 'owner_only') return viewer.isOwnOperation
    return scopes.grants.some((grant) => grant[`can_${right}`] && viewer.subjects.includes(grant.subject))
  }
  const canView = has('view')
  return { canView, canAssign: canView && has('assign'), canEdit: canView && has('edit') }
}
