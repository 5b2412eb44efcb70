/** The requirement of one policy for a subject, with the votes that count for it now. */
export type RequirementState = {
  stepIndex: number
  policyId: string
  policyCode: string
  threshold: number
  bypassed: boolean
  /** Distinct approvers who voted yes and are still entitled to. */
  approvalsCount: number
  /** `approvals` plus the entitled voters who have not voted yet. */
  reachableCount: number
}

/** A subject is approved when every requirement that was not waived has reached its own threshold. */
export function isApproved(requirements: RequirementState[]): boolean {
  return requirements.length > 0 && requirements.every((one) => one.bypassed || one.approvalsCount >= one.threshold)
}

/** Whether the approvals and the votes that are still possible are enough for every requirement that was not waived. */
export function isQuorumReachable(requirements: RequirementState[]): boolean {
  return requirements.every((one) => one.bypassed || one.reachableCount >= one.threshold)
}

/** Whether a voter of the snapshot can vote and whether their vote counts; `isOpen`: the subject still takes votes. */
export function voterStateOf(
  voter: { decision: 'approve' | 'reject' | null; isEntitled: boolean },
  isOpen: boolean,
): { counts: boolean; voidReason: 'not_entitled' | null; canVote: boolean } {
  const hasVoted = voter.decision !== null
  return {
    counts: hasVoted && voter.isEntitled,
    voidReason: hasVoted && !voter.isEntitled ? 'not_entitled' : null,
    canVote: isOpen && !hasVoted && voter.isEntitled,
  }
}
