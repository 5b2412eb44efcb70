import type { ApproverRow } from './queries.ts'
import { standingOf } from './tally.ts'

/** An approver as every list shows them; `isOpen`: the subject still takes votes. */
export function toApprover({ stepIndexes: _, isEntitled, ...row }: ApproverRow, isOpen: boolean) {
  return { ...row, ...standingOf({ decision: row.decision, isEntitled }, isOpen) }
}
