import { canonicalJson, isSameJson } from '../../../lib/canonical-json.ts'
import type { TargetRecord } from '../../record/audit/record.ts'
import type { GroupThreshold } from '../decisions/decision.ts'
import { type VoteChoice, votesMissing } from './tally.ts'

/** A requirement with the voters of its snapshot, as the audit record of the request holds it. */
export type RecordedRequirement = {
  stepIndex: number
  policyId: string
  policyCode: string
  threshold: number
  bypassed: boolean
  /** Ids of users, in any order. */
  voters: string[]
  /** The votes that groups must give, with their voters; absent or null when no group must give votes. */
  groups?: (GroupThreshold & { voters: string[] })[] | null
}

export type CastVote = { userId: string; decision: VoteChoice }

export type ApprovalState = { requirements: RecordedRequirement[]; votes: CastVote[] }

/** `requirements` is null for a request of a version of the service that did not record them. */
type RecordedApproval = { requirements: RecordedRequirement[] | null; votes: CastVote[] }

/** Returns the audit record of the creation of a subject, or the fault that its records have. */
export function readCreation(
  records: TargetRecord[],
  action: 'transfer.requested' | 'approval_request.created' | 'payout.requested',
): { creation: TargetRecord } | { difference: string } {
  const broken = records.find(({ fault }) => fault !== null)
  if (broken !== undefined) return { difference: `audit record ${broken.id}: ${broken.fault}` }
  const verb = action.slice(action.indexOf('.') + 1)
  const [creation, ...others] = records.filter((record) => record.action === action)
  if (creation === undefined) return { difference: `no audit record shows that it was ${verb}` }
  if (others.length > 0) return { difference: `more than one audit record shows that it was ${verb}` }
  return { creation }
}

/**
 * Returns the first difference between an approval in the tables and in the audit records, or null. Votes are counted
 * from the audit records alone.
 *
 * @param isApproved true if the subject was approved by its votes
 */
export function differenceOfApproval(
  stored: ApprovalState,
  recorded: RecordedApproval,
  isApproved: boolean,
): string | null {
  if (recorded.requirements !== null && !isSame(stored.requirements, recorded.requirements)) {
    return 'its requirements or their voters were changed'
  }
  if (!isSame(stored.votes, recorded.votes)) return 'its votes were changed'
  return isApproved && !hasEnoughVotes(recorded) ? 'it went on without the required votes' : null
}

/** If the record holds no requirements, it must hold at least one vote. */
function hasEnoughVotes({ requirements, votes }: RecordedApproval): boolean {
  const approvers = new Set(votes.filter(({ decision }) => decision === 'approve').map(({ userId }) => userId))
  if (requirements === null) return approvers.size > 0
  return requirements.every(({ bypassed, voters, threshold, groups }) => {
    const approving = [...new Set(voters.filter((voter) => approvers.has(voter)))]
    const groupsOfVotes = approving.map((voter) =>
      (groups ?? []).filter((group) => group.voters.includes(voter)).map(({ groupId }) => groupId),
    )
    return bypassed || votesMissing({ threshold, groups: groups ?? [] }, approving.length, groupsOfVotes) === 0
  })
}

function isSame<Item extends CastVote | RecordedRequirement>(stored: Item[], recorded: Item[]): boolean {
  return isSameJson(inOrder(stored), inOrder(recorded))
}

/** The texts of the items, sorted, because rows have no order. */
function inOrder(items: (CastVote | RecordedRequirement)[]): string[] {
  return items.map((item) => canonicalJson('voters' in item ? withSortedVoters(item) : item)).toSorted()
}

function withSortedVoters({ groups, ...requirement }: RecordedRequirement): RecordedRequirement {
  const sorted = { ...requirement, voters: requirement.voters.toSorted() }
  if (groups === undefined || groups === null) return sorted
  const ofGroups = groups.map((group) => ({ ...group, voters: group.voters.toSorted() }))
  return { ...sorted, groups: ofGroups.toSorted((a, b) => (a.groupId < b.groupId ? -1 : 1)) }
}
