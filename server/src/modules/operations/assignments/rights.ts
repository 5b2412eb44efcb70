import { subjectsOf, type Viewer } from '../../../access/address-scope.ts'
import type { CategoryGrantRow, CategoryRow } from '../categories/queries.ts'
import type { OperationRow } from '../feed/queries.ts'

export type CategoryRight = 'view' | 'assign' | 'edit'

/** What decides about rights on the assignments of a category. */
export type Scopes = Pick<CategoryRow, 'view_scope' | 'assign_scope' | 'edit_scope'> & {
  grants: Pick<CategoryGrantRow, 'subject' | 'can_view' | 'can_assign' | 'can_edit'>[]
}

/** Somebody who sees an operation, as far as it decides their rights to the categories on it. */
export type OperationViewer = {
  isAdmin: boolean
  /** They own the address of the operation, or ordered it. */
  isOwnOperation: boolean
  /** How grants name them: see `subjectsOf`. */
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
 * What somebody who sees an operation may do with a category on it (contract 13.4): see its assignment, make
 * it, and change or remove it. What one cannot see one can neither make nor change. Administrators always may.
 * `hasCategoryRight` says the same in SQL.
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
