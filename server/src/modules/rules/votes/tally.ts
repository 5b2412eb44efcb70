import type { GroupThreshold } from '../decisions/decision.ts'
import { placesTaken, votesMissing } from './places.ts'

/** What a voter decides. */
export type VoteChoice = 'approve' | 'reject'

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
  /** The votes that groups must give; null: none in particular. The two after it are null with it. */
  groups?: GroupThreshold[] | null
  /** For each approval the groups that entitle its voter. */
  approvals?: string[][] | null
  /** The same with those who have not voted yet. */
  reachable?: string[][] | null
}

/** How many more approvals the requirement takes at least. */
export function lackOf({ threshold, groups, approvalsCount, approvals }: RequirementState): number {
  return votesMissing({ threshold, groups: groups ?? [] }, approvalsCount, approvals ?? [])
}

/** A subject is approved when every requirement that was not waived has reached its own threshold. */
export function isApproved(requirements: RequirementState[]): boolean {
  return requirements.length > 0 && requirements.every((one) => one.bypassed || lackOf(one) === 0)
}

/** Whether the approvals and the votes that are still possible are enough for every requirement that was not waived. */
export function isQuorumReachable(requirements: RequirementState[]): boolean {
  return requirements.every(
    ({ bypassed, threshold, groups, reachableCount, reachable }) =>
      bypassed || votesMissing({ threshold, groups: groups ?? [] }, reachableCount, reachable ?? []) === 0,
  )
}

/** The votes that groups must give, with those that their members gave. */
export function groupsOf({ groups, approvals }: RequirementState): (GroupThreshold & { approvalsCount: number })[] {
  return (groups ?? []).map((one) => ({
    ...one,
    approvalsCount: placesTaken(
      [one],
      (approvals ?? []).filter((of) => of.includes(one.groupId)),
    ),
  }))
}

/** Whether a voter of the snapshot can vote and whether their vote counts; `isOpen`: the subject still takes votes. */
export function voterStateOf(
  voter: { decision: VoteChoice | null; isEntitled: boolean },
  isOpen: boolean,
): { counts: boolean; voidReason: 'not_entitled' | null; canVote: boolean } {
  const hasVoted = voter.decision !== null
  return {
    counts: hasVoted && voter.isEntitled,
    voidReason: hasVoted && !voter.isEntitled ? 'not_entitled' : null,
    canVote: isOpen && !hasVoted && voter.isEntitled,
  }
}
