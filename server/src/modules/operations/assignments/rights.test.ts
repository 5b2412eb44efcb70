import { describe, expect, it } from 'vitest'
import { type OperationViewer, type Rights, rightsOf, type Scopes } from '../categories/rights.ts'
import type { CategoryScope } from '../categories/schema.ts'

const everybody: OperationViewer = {
  readsAll: false,
  isOwnOperation: false,
  subjects: ['user:somebody', 'group:everyone'],
}
const viewers = {
  'an administrator': { ...everybody, readsAll: true },
  'owner or initiator': { ...everybody, isOwnOperation: true },
  'a viewer': everybody,
  'a viewer who was granted it': { ...everybody, subjects: ['user:somebody', 'group:payroll'] },
  'a viewer of another group': { ...everybody, subjects: ['user:payroll', 'group:pay'] },
} as const
const allScopes = ['owner_only', 'vault_members', 'restricted'] as const
type Viewer = keyof typeof viewers

/** The viewers in each scope when the right is granted to `group:payroll`. */
const insiders: Record<CategoryScope, Viewer[]> = {
  owner_only: ['an administrator', 'owner or initiator'],
  vault_members: Object.keys(viewers) as Viewer[],
  restricted: ['an administrator', 'a viewer who was granted it'],
}
const grant = { subject: 'group:payroll', can_view: true, can_assign: true, can_edit: true }
const columns = { canView: 'view_scope', canAssign: 'assign_scope', canEdit: 'edit_scope' } as const
const cases = Object.keys(viewers).flatMap((viewer) =>
  allScopes.flatMap((view) =>
    allScopes.flatMap((assign) => allScopes.map((edit) => [viewer as Viewer, view, assign, edit] as const)),
  ),
)

describe('rights on the assignments of a category', () => {
  it.each(cases)('T39 %s; view %s, assign %s, edit %s', (viewer, view_scope, assign_scope, edit_scope) => {
    const sees = insiders[view_scope].includes(viewer)
    expect(rightsOf({ view_scope, assign_scope, edit_scope, grants: [grant] }, viewers[viewer])).toEqual({
      canView: sees,
      canAssign: sees && insiders[assign_scope].includes(viewer),
      canEdit: sees && insiders[edit_scope].includes(viewer),
    })
  })

  it.each(['canView', 'canAssign', 'canEdit'] as const)('T39 a grant without %s does not give it', (right) => {
    const scopes: Scopes = {
      view_scope: 'vault_members',
      assign_scope: 'vault_members',
      edit_scope: 'vault_members',
      grants: [],
    }
    const granted = { ...grant, can_view: true, can_assign: true, can_edit: true }
    const without = { canView: 'can_view', canAssign: 'can_assign', canEdit: 'can_edit' } as const
    const restricted = { ...scopes, [columns[right]]: 'restricted', grants: [{ ...granted, [without[right]]: false }] }
    expect(rightsOf(restricted, viewers['a viewer who was granted it'])[right]).toBe(false)
  })

  it('rights of several grants add up', () => {
    const none = { can_view: false, can_assign: false, can_edit: false }
    const grants = [
      { ...none, subject: 'user:somebody', can_view: true },
      { ...none, subject: 'group:everyone', can_edit: true },
      { ...none, subject: 'user:somebody-else', can_assign: true },
    ]
    const scopes: Scopes = { view_scope: 'restricted', assign_scope: 'restricted', edit_scope: 'restricted', grants }
    const rights: Rights = { canView: true, canAssign: false, canEdit: true }
    expect(rightsOf(scopes, everybody)).toEqual(rights)
  })
})
