import { subjectsOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { CategoryGrantRow, CategoryRow } from './queries.ts'

type Viewer = Pick<Member, 'userId' | 'groupIds' | 'isAdmin'>
type Granting = Pick<CategoryRow, 'grants'>

/** Whether the viewer may change the definition: as an administrator, or by a grant of `canEdit` to them or their group. */
export function mayEditDefinition(category: Granting, viewer: Viewer): boolean {
  return viewer.isAdmin || ownGrants(category, viewer).some((grant) => grant.can_edit)
}

/** Only editors of the definition see the grants of others; every viewer sees their own grants. */
export function grantsSeenBy(category: Granting, viewer: Viewer): CategoryGrantRow[] {
  return mayEditDefinition(category, viewer) ? category.grants : ownGrants(category, viewer)
}

function ownGrants({ grants }: Granting, viewer: Viewer): CategoryGrantRow[] {
  const subjects = new Set(subjectsOf(viewer))
  return grants.filter(({ subject }) => subjects.has(subject))
}
