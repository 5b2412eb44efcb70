import type { Static } from 'typebox'
import type { Profile } from '../../../http/schema.ts'
import type { GroupThreshold } from '../decisions/decision.ts'
import type { Approver } from './schema.ts'

/** The decision of a voter. */
export type VoteChoice = 'approve' | 'reject'

/** The requirement of one policy for a subject, with the votes that count for it now. */
export type RequirementState = {
  stepIndex: number
  policyId: string
  policyCode: string
  threshold: number
  bypassed: boolean
  /** The number of voters who approved and are still entitled to vote. */
  approvalsCount: number
  /** `approvalsCount` plus the number of entitled voters who have not voted yet. */
  reachableCount: number
  /** The votes that groups must give; null when no group must give votes. The next two fields are then null as well. */
  groups?: GroupThreshold[] | null
  /** For each approval the groups that entitle its voter. */
  approvals?: string[][] | null
  /** The groups of `approvals`, and of the entitled voters who have not voted yet. */
  reachable?: string[][] | null
}

/** Returns the least number of further approvals that the requirement needs. */
export function lackOf({ threshold, groups, approvalsCount, approvals }: RequirementState): number {
  return votesMissing({ threshold, groups: groups ?? [] }, approvalsCount, approvals ?? [])
}

/** Returns true if every requirement that was not waived has reached its threshold. */
export function isApproved(requirements: RequirementState[]): boolean {
  return (
    requirements.length > 0 && requirements.every((requirement) => requirement.bypassed || lackOf(requirement) === 0)
  )
}

/** Returns true if the cast and the possible approvals are enough for every requirement that was not waived. */
export function isQuorumReachable(requirements: RequirementState[]): boolean {
  return requirements.every(
    ({ bypassed, threshold, groups, reachableCount, reachable }) =>
      bypassed || votesMissing({ threshold, groups: groups ?? [] }, reachableCount, reachable ?? []) === 0,
  )
}

/** Returns the votes that groups must give, with the number of these votes that their members gave. */
export function groupsOf({ groups, approvals }: RequirementState): (GroupThreshold & { approvalsCount: number })[] {
  return (groups ?? []).map((group) => ({
    ...group,
    approvalsCount: placesTaken(
      [group],
      (approvals ?? []).filter((of) => of.includes(group.groupId)),
    ),
  }))
}

/** Returns whether a voter of the snapshot can vote, and whether the vote counts. `isOpen`: the subject still takes votes. */
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

/**
 * Counts the votes among those that groups must give; pure. A vote counts for one group alone. Two votes of one group and one
 * vote of another need three people, even if a person is in both groups (decision 0041).
 * Votes are matched with groups so that as many places as possible are taken.
 *
 * @param votes the groups that each vote may count for
 */
export function placesTaken(thresholds: readonly GroupThreshold[], votes: readonly (readonly string[])[]): number {
  const places = thresholds.flatMap(({ groupId, threshold }) => Array.from({ length: threshold }, () => groupId))
  /** The vote in each place. */
  const takenBy = new Map<number, number>()
  const takePlace = (vote: number, tried: Set<number>): boolean =>
    places.some((groupId, place) => {
      if (tried.has(place) || !votes[vote]!.includes(groupId)) return false
      tried.add(place)
      const holder = takenBy.get(place)
      // The voter who has the place may find another place.
      if (holder !== undefined && !takePlace(holder, tried)) return false
      takenBy.set(place, vote)
      return true
    })
  for (const vote of votes.keys()) {
    if (takenBy.size === places.length) break
    takePlace(vote, new Set())
  }
  return takenBy.size
}

/** Returns the number of votes that groups must give. */
export const placesOf = (thresholds: readonly GroupThreshold[]): number =>
  thresholds.reduce((sum, { threshold }) => sum + threshold, 0)

/** Returns the least number of further votes that reach the threshold and fill the places of the groups. */
export function votesMissing(
  { threshold, groups }: { threshold: number; groups: readonly GroupThreshold[] },
  votesCount: number,
  votes: readonly (readonly string[])[],
): number {
  return Math.max(0, threshold - votesCount, placesOf(groups) - placesTaken(groups, votes))
}

/** One voter of the snapshot with their vote, as `approversOf` reads it; times are in wire form. */
export type ApproverRow = {
  id: string
  userId: string
  decision: VoteChoice | null
  comment: string | null
  votedAt: string | null
  createdAt: string
  /** The steps on which the voter votes. */
  stepIndexes: number[]
  /** True if the voter is still entitled to vote on any step; for a resolved subject, if entitled at its resolution. */
  isEntitled: boolean
  user: Profile
}

/** Presents an approver as every list shows them. */
function toApprover({ stepIndexes: _, isEntitled, ...row }: ApproverRow, isOpen: boolean): Static<typeof Approver> {
  return { ...row, ...voterStateOf({ decision: row.decision, isEntitled }, isOpen) }
}

/** Presents a requirement as every list shows it. Approval requests add the `stepIndex`. */
function toRequirement(requirement: RequirementState) {
  const { policyId, policyCode, threshold, approvalsCount, bypassed } = requirement
  const votesMissing = bypassed ? 0 : lackOf(requirement)
  return { policyId, policyCode, threshold, approvalsCount, bypassed, votesMissing, groups: groupsOf(requirement) }
}

/** Presents the votes on a subject as every list shows them. `isOpen` is true when it takes votes now. */
export const toVotes = (requirements: RequirementState[], approvers: ApproverRow[], isOpen: boolean) => ({
  requirements: requirements.map(toRequirement),
  approvers: approvers.map((approver) => toApprover(approver, isOpen)),
  quorumReachable: !isOpen || isQuorumReachable(requirements),
})
