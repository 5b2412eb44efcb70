import type { Static } from 'typebox'
import type { ApproverRow } from './queries.ts'
import type { Approver } from './schema.ts'
import { groupsOf, lackOf, type RequirementState, voterStateOf } from './tally.ts'

/** An approver as every list shows them; `isOpen`: the subject still takes votes. */
export function toApprover(
  { stepIndexes: _, isEntitled, ...row }: ApproverRow,
  isOpen: boolean,
): Static<typeof Approver> {
  return { ...row, ...voterStateOf({ decision: row.decision, isEntitled }, isOpen) }
}

/** A requirement as every list shows it; `stepIndex` counts in chains alone. */
export function toRequirement(requirement: RequirementState) {
  const { policyId, policyCode, threshold, approvalsCount, bypassed } = requirement
  const votesMissing = bypassed ? 0 : lackOf(requirement)
  return { policyId, policyCode, threshold, approvalsCount, bypassed, votesMissing, groups: groupsOf(requirement) }
}
