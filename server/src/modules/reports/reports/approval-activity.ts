import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Trx } from '../../../db/client.ts'
import { Closed, described, Id, Nullable, Ref } from '../../../http/schema.ts'
import {
  approvalMilliseconds,
  neededApproval,
  summarizeVotes,
  type TimesRow,
  timesOf,
  toTimes,
  wasApproved,
} from '../activity/statistics.ts'
import { ActivityApprovals, secondsFigures, summarizeApprovals } from '../blocks/approvals.ts'
import { findProfiles } from '../requests/details.ts'
import { isReported, type OperationFilter } from '../requests/operation-filter.ts'
import { inSnapshot } from '../requests/reading.ts'
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
    askedCount: described(Count, 'Number of transfers that waited for this approver.'),
    approvedCount: described(Count, 'Number of transfers that the approver approved.'),
    rejectedCount: described(Count, 'Number of transfers that the approver rejected.'),
    withoutVoteCount: described(
      Count,
      'Number of transfers that ended or still wait without the vote of this approver.',
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
    const { counts, times } = await summarizeVotes(trx, request.filter)
    return {
      report: toHeader(request),
      approvals: summarizeApprovals(counts, times),
      byPolicy: await listPolicies(trx, request.filter),
      byApprover: await listApprovers(trx, request.filter),
    }
  })
}

async function listPolicies(trx: Trx, filter: OperationFilter): Promise<Static<typeof PolicyApprovals>[]> {
  const { rows } = await sql<TimesRow & Omit<Static<typeof PolicyApprovals>, `${string}Seconds`>>`
    with asked as (
      select q.policy_id, q.policy_code, q.policy_name, q.bypassed, o.status, ${wasApproved} and not q.bypassed as approved,
        case when ${wasApproved} and not q.bypassed then ${approvalMilliseconds} end as waited
      from operations o join approval_requirements q on q.vault_id = o.vault_id and q.subject_id = o.id
      where ${isReported(filter)} and o.type = 'transfer'
    )
    select policy_id as "policyId", max(policy_code) as "policyCode", max(policy_name) as "policyName",
      count(*) filter (where not bypassed)::float8 as "operationsRequiringApproval",
      count(*) filter (where bypassed)::float8 as "bypassedOperations",
      count(*) filter (where approved)::float8 as "approvedOperations",
      count(*) filter (where not bypassed and status = 'rejected')::float8 as "rejectedOperations",
      count(*) filter (where not bypassed and status = 'cancelled')::float8 as "cancelledOperations",
      count(*) filter (where not bypassed and status = 'awaiting_approval')::float8 as "pendingOperations",
      ${timesOf}
    from asked group by policy_id order by "operationsRequiringApproval" desc, policy_id`.execute(trx)
  return rows.map(({ timed, sum, middles, longest, ...policy }) => ({
    ...policy,
    ...secondsFigures(toTimes({ timed, sum, middles, longest })),
  }))
}

async function listApprovers(trx: Trx, filter: OperationFilter): Promise<Static<typeof ApproverActivity>[]> {
  const { rows } = await sql<TimesRow & Omit<Static<typeof ApproverActivity>, 'user' | `${string}Seconds`>>`
    with votes as (
      select v.user_id, v.decision, round(extract(epoch from v.voted_at - o.created_at) * 1000) as waited
      from operations o join approval_voters v on v.vault_id = o.vault_id and v.subject_id = o.id
      where ${isReported(filter)} and ${neededApproval(filter)}
    )
    select user_id as "userId", count(*)::float8 as "askedCount",
      count(*) filter (where decision = 'approve')::float8 as "approvedCount",
      count(*) filter (where decision = 'reject')::float8 as "rejectedCount",
      count(*) filter (where decision is null)::float8 as "withoutVoteCount", ${timesOf}
    from votes group by user_id order by "askedCount" desc, user_id`.execute(trx)
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
