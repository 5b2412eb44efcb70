import type { RecordedRow } from '../../record/audit/compare-rows.ts'
import type { ReplayedRecord } from '../../record/audit/queries.ts'
import type { Shared } from './queries.ts'

/** Returns the actions that change the grants on an address or folder. Records of one moment happened in this order. */
export const grantActions = (type: Shared['type']) => [`${type}.shared`, `${type}.unshared`, 'policy_group.deleted']

/** The grants in words, by the subject. */
type Grants = Record<string, string>
type Details = { subjectType: string; subjectId: string; canTransfer: boolean }

/** Changes the `grants` of rows by a record of `grantActions`. A deleted group loses all of its grants. */
export function takeGrant(
  recorded: Map<string, RecordedRow>,
  { action, targetId, details }: Pick<ReplayedRecord, 'action' | 'targetId' | 'details'>,
): void {
  if (action === 'policy_group.deleted') {
    for (const { grants } of recorded.values()) delete (grants as Grants)[`group:${targetId}`]
    return
  }
  const { subjectType, subjectId, canTransfer } = details as Details
  const grants = recorded.get(targetId)?.grants as Grants | undefined
  if (grants === undefined) return
  if (action.endsWith('.unshared')) delete grants[`${subjectType}:${subjectId}`]
  else grants[`${subjectType}:${subjectId}`] = canTransfer ? 'view and transfer' : 'view'
}
