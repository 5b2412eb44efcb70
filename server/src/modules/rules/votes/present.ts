import type { Static } from 'typebox'
import type { ApproverRow } from './queries.ts'
import type { Approver } from './schema.ts'
import { voterStateOf } from './tally.ts'

/** An approver as every list shows them; `isOpen`: the subject still takes votes. */
export function toApprover(
  { stepIndexes: _, isEntitled, ...row }: ApproverRow,
  isOpen: boolean,
): Static<typeof Approver> {
  return { ...row, ...voterStateOf({ decision: row.decision, isEntitled }, isOpen) }
}
