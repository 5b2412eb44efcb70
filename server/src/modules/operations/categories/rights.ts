import { subjectsOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { CategoryGrantRow, CategoryRow } from './queries.ts'

type Asker = Pick<Member, 'userId' | 'groupIds' | 'isAdmin'>
type Granting = Pick<CategoryRow, 'grants'>

/** Whether whoever asks may change the definition: as an administrator, or granted `canEdit`, by a group or not. */
export function mayEditDefinition(category: Granting, asker: Asker): boolean {
  return asker.isAdmin || ownGrants(category, asker).some((grant) => grant.can_edit)
}

/** Who else was granted what is for those who may edit the definition; everyone sees what they hold themselves. */
export function grantsSeenBy(category: Granting, asker: Asker): CategoryGrantRow[] {
  return mayEditDefinition(category, asker) ? category.grants : ownGrants(category, asker)
}

function ownGrants({ grants }: Granting, asker: Asker): CategoryGrantRow[] {
  const subjects = new Set(subjectsOf(asker))
  return grants.filter(({ subject }) => subjects.has(subject))
}
