import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Trx } from '../../../db/client.ts'
import { Closed, described, Id, Nullable, Ref } from '../../../http/schema.ts'
import {
  approvalMilliseconds,
  summarizeVotes,
  type TimesRow,
  timesOf,
  toTimes,
  votedTransfers,
  wasApproved,
} from '../activity/votes.ts'
import { ActivityApprovals, secondsFigures, summarizeApprovals } from '../blocks/approvals.ts'
import { findProfiles } from '../requests/details.ts'
import { isSubject, neededVotes, subjectsOfVotes } from '../requests/needed-votes.ts'
import { isReported, type OperationFilter } from '../requests/operation-filter.ts'
import { avoiding, inSnapshot, nameFew } from '../requests/reading.ts'
import { type ReportRequest, toHeader } from '../requests/report-request.ts'
import {
  approvalSeconds,
  BreakdownIgnored,
  Count,
  commonQuery,
  filters,
  Profile,
  ReportHeader,
  Seconds,
  Text,
} from '../requests/schema.ts'

export const ApprovalActivityQuery = Closed({ ...commonQuery, ...filters, breakdownBy: BreakdownIgnored })

export const PolicyApprovals = Closed(
  {
    policyId: Id,
    policyCode: Text('large-transfers'),
    policyName: described(Text('Large transfers'), 'Name of the policy.'),
    operationsRequiringApproval: Count,
    bypassedOperations: described(
      Count,
      'Number of transfers whose votes were waived because the initiator administers the vault.',
    ),
    approvedOperations: Count,
    rejectedOperations: Count,
    cancelledOperations: Count,
    pendingOperations: Count,
    ...approvalSeconds,
  },
  { $id: 'PolicyApprovals' },
)

export const ApproverActivity = Closed(
  {
    userId: Text('cmi8h2k1p0a1b2c3d4e5f6g7h'),
    user: Nullable(Profile),
    askedCount: described(
      Count,
      'Number of votes that this approver was asked for. A payout is voted on as a whole: one vote for all of its transfers.',
    ),
    approvedCount: described(Count, 'Number of these votes that approved.'),
    rejectedCount: described(Count, 'Number of these votes that rejected.'),
    withoutVoteCount: described(
      Count,
      'Number of these votes that were not cast: the transfer or payout ended without it, or still waits.',
    ),
    averageVoteSeconds: described(Seconds, 'Mean time from the order to the vote, in seconds; null without votes.'),
    medianVoteSeconds: described(Seconds, 'Median time from the order to the vote, in seconds; null without votes.'),
    maximumVoteSeconds: described(Seconds, 'Longest time from the order to the vote, in seconds; null without votes.'),
  },
  { $id: 'ApproverActivity' },
)

export const ApprovalActivityReport = Closed(
  {
    report: Ref(ReportHeader),
    approvals: Ref(ActivityApprovals),
    byPolicy: described(Type.Array(Ref(PolicyApprovals)), 'Figures per policy that asked for votes.'),
    byApprover: described(Type.Array(Ref(ApproverActivity)), 'Figures per approver.'),
  },
  { $id: 'ApprovalActivityReport' },
)

/** Reports the votes on the transfers of a report: overall, by policy, and by approver. */
export async function buildApprovalActivity(
  db: Db,
  request: ReportRequest,
): Promise<Static<typeof ApprovalActivityReport>> {
  return inSnapshot(db, async (trx) => {
    const { filter } = await nameFew(trx, request)
    // The votes on operations that are named by their ids must not be looked up once for each operation.
    const figures = await avoiding(trx, filter.operationIds === null ? [] : ['nestloop'], async () => ({
      overall: await summarizeVotes(trx, filter),
      byPolicy: await listPolicies(trx, filter),
      byApprover: await listApprovers(trx, filter),
    }))
    const { overall, byPolicy, byApprover } = figures
    return {
      report: toHeader(request),
      approvals: summarizeApprovals(overall.counts, overall.times),
      byPolicy,
      byApprover: await withProfiles(trx, byApprover),
    }
  })
}

async function listPolicies(trx: Trx, filter: OperationFilter): Promise<Static<typeof PolicyApprovals>[]> {
  const { rows } = await sql<TimesRow & Omit<Static<typeof PolicyApprovals>, `${string}Seconds`>>`
    with ${subjectsOfVotes(filter)}, needed as (
      select q.policy_id, q.policy_code, q.policy_name, q.bypassed, o.status, ${wasApproved} and not q.bypassed as approved,
        case when ${wasApproved} and not q.bypassed then ${approvalMilliseconds} end as waited
      from ${votedTransfers}
      join approval_requirements q on q.vault_id = o.vault_id and ${isSubject(filter, 'q.subject_id')}
        and q.subject_id = s.subject_id
      where ${isReported(filter)}
    )
    select policy_id as "policyId", max(policy_code) as "policyCode", max(policy_name) as "policyName",
      count(*) filter (where not bypassed)::float8 as "operationsRequiringApproval",
      count(*) filter (where bypassed)::float8 as "bypassedOperations",
      count(*) filter (where approved)::float8 as "approvedOperations",
      count(*) filter (where not bypassed and status = 'rejected')::float8 as "rejectedOperations",
      count(*) filter (where not bypassed and status = 'cancelled')::float8 as "cancelledOperations",
      count(*) filter (where not bypassed and status = 'awaiting_approval')::float8 as "pendingOperations",
      ${timesOf}
    from needed group by policy_id order by "operationsRequiringApproval" desc, policy_id`.execute(trx)
  return rows.map(({ timed, sum, middles, longest, ...policy }) => ({
    ...policy,
    ...secondsFigures(toTimes({ timed, sum, middles, longest })),
  }))
}

type Approver = TimesRow & Omit<Static<typeof ApproverActivity>, 'user' | `${string}Seconds`>

/** Returns the votes by their voters: one vote for all rows of a payout. */
async function listApprovers(trx: Trx, filter: OperationFilter): Promise<Approver[]> {
  const { rows } = await sql<Approver>`
    with ${subjectsOfVotes(filter)}, needed as (
      select s.subject_id, min(o.created_at) as created_at
      from ${votedTransfers} where ${isReported(filter)} and ${neededVotes(filter)} group by s.subject_id
    ), votes as (
      select v.user_id, v.decision, round(extract(epoch from v.voted_at - needed.created_at) * 1000) as waited
      from needed join approval_voters v on v.vault_id = ${filter.scope.vaultId} and ${isSubject(filter, 'v.subject_id')}
        and v.subject_id = needed.subject_id
    )
    select user_id as "userId", count(*)::float8 as "askedCount",
      count(*) filter (where decision = 'approve')::float8 as "approvedCount",
      count(*) filter (where decision = 'reject')::float8 as "rejectedCount",
      count(*) filter (where decision is null)::float8 as "withoutVoteCount", ${timesOf}
    from votes group by user_id order by "askedCount" desc, user_id`.execute(trx)
  return rows
}

async function withProfiles(trx: Trx, rows: Approver[]): Promise<Static<typeof ApproverActivity>[]> {
  const ids = rows.map(({ userId }) => userId)
  const users = await findProfiles(trx, ids)
  return rows.map(({ timed, sum, middles, longest, ...approver }) => {
    const seconds = secondsFigures(toTimes({ timed, sum, middles, longest }))
    return {
      ...approver,
      user: users.get(approver.userId) ?? null,
      averageVoteSeconds: seconds.averageApprovalSeconds,
      medianVoteSeconds: seconds.medianApprovalSeconds,
      maximumVoteSeconds: seconds.maximumApprovalSeconds,
    }
  })
}
