import type { CategoryGrantRow, CategoryRow, CategoryScope } from '../categories/queries.ts'

/** What decides about rights on the assignments of a category. */
export type Scopes = Pick<CategoryRow, 'view_scope' | 'assign_scope' | 'edit_scope'> & {
  grants: Pick<CategoryGrantRow, 'subject' | 'can_view' | 'can_assign' | 'can_edit'>[]
}

/** Whoever asks, given that they see the operation. */
export type Standing = {
  isAdmin: boolean
  /** They own the address of the operation, or ordered it. */
  isOwnOperation: boolean
  /** Who they are to a grant: see `subjectsOf`. */
  subjects: readonly string[]
}

export type Rights = { canView: boolean; canAssign: boolean; canEdit: boolean }

/**
 * What somebody who sees an operation may do with a category on it (decisions.md, section 8): see its assignment, make
 * it, and change or remove it. What one cannot see one can neither make nor change. Administrators always may.
 */
export function rightsOf(scopes: Scopes, standing: Standing): Rights {
  if (standing.isAdmin) return { canView: true, canAssign: true, canEdit: true }
  const grants = scopes.grants.filter(({ subject }) => standing.subjects.includes(subject))
  const isIn = (scope: CategoryScope, isGranted: boolean) => {
    if (scope === 'vault_members') return true
    return scope === 'owner_only' ? standing.isOwnOperation : isGranted
  }
  const canView = isIn(
    scopes.view_scope,
    grants.some(({ can_view }) => can_view),
  )
  const canAssign = isIn(
    scopes.assign_scope,
    grants.some(({ can_assign }) => can_assign),
  )
  const canEdit = isIn(
    scopes.edit_scope,
    grants.some(({ can_edit }) => can_edit),
  )
  return { canView, canAssign: canView && canAssign, canEdit: canView && canEdit }
}
