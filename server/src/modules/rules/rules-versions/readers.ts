import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import { notFound } from '../../../lib/errors.ts'
import { readGovernance } from './read-governance.ts'

/** The sentence about the readers of the rules, for descriptions in OpenAPI. */
export const readersOfRules =
  'For administrators, auditors, and the group that votes on changes of the rules. Other members get an empty list or 404.'

/** Returns true if the member may read the rules. They name invited people and the wallet service. */
export async function readsRules(db: Db, member: Member): Promise<boolean> {
  if (member.readsAll) return true
  const { approverGroupId } = await readGovernance(db, member.vault.id)
  return approverGroupId !== null && member.groupIds.includes(approverGroupId)
}

/** @throws 404 */
export async function assertReadsRules(db: Db, member: Member, noun: string): Promise<void> {
  if (!(await readsRules(db, member))) throw notFound(noun)
}
