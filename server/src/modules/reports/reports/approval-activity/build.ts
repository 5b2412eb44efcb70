import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db, Trx } from '../../../../db/client.ts'
import {
  approvalMilliseconds,
  neededApproval,
  summarizeVotes,
  type TimesRow,
  timesOf,
  toTimes,
  wasApproved,
} from '../activity/statistics.ts'
import { secondsFigures, summarizeApprovals } from '../blocks/approvals.ts'
import type { Interval } from '../buckets.ts'
import { findProfiles } from '../details.ts'
import { isReported, type OperationFilter } from '../operation-filter.ts'
import { inSnapshot, type ReportRequest, toHeader } from '../request.ts'
import type { Profile } from '../schema.ts'
import type { ApprovalActivityReport, ApproverActivity, PolicyApprovals } from './schema.ts'

/** Votes on the transfers of a report: overall, by policy, and by approver. */
export async function buildApprovalActivity(
  db: Db,
  request: ReportRequest,
): Promise<Static<typeof ApprovalActivityReport>> {
  const { filter, interval } = request
  return inSnapshot(db, async (trx) => {
    const { counts, times } = await summarizeVotes(trx, filter, interval)
    const policies = await listPolicies(trx, filter, interval)
    const approvers = await listApprovers(trx, filter, interval)
    const users = await findProfiles(
      trx,
      approvers.map(({ user_id }) => user_id),
    )
    return {
      report: toHeader(request),
      approvals: summarizeApprovals(counts, times),
      byPolicy: policies.map(toPolicy),
      byApprover: approvers.map((row) => toApprover(row, users.get(row.user_id) ?? null)),
    }
  })
}

function toPolicy(row: PolicyRow): Static<typeof PolicyApprovals> {
  return {
    policyId: row.policy_id,
    policyCode: row.policy_code,
    policyName: row.policy_name,
    operationsRequiringApproval: row.required,
    bypassedOperations: row.bypassed,
    approvedOperations: row.approved,
    rejectedOperations: row.rejected,
    cancelledOperations: row.cancelled,
    pendingOperations: row.waiting,
    ...secondsFigures(toTimes(row)),
  }
}

function toApprover(row: ApproverRow, user: Profile | null): Static<typeof ApproverActivity> {
  const { averageApprovalSeconds, medianApprovalSeconds, maximumApprovalSeconds } = secondsFigures(toTimes(row))
  return {
    userId: row.user_id,
    user,
    askedCount: row.asked,
    approvedCount: row.approved,
    rejectedCount: row.rejected,
    withoutVoteCount: row.silent,
    averageVoteSeconds: averageApprovalSeconds,
    medianVoteSeconds: medianApprovalSeconds,
    maximumVoteSeconds: maximumApprovalSeconds,
  }
}

export type PolicyRow = TimesRow & {
  policy_id: string
  policy_code: string
  policy_name: string
  required: number
  bypassed: number
  approved: number
  rejected: number
  cancelled: number
  waiting: number
}

export async function listPolicies(trx: Trx, filter: OperationFilter, interval: Interval): Promise<PolicyRow[]> {
  const { rows } = await sql<PolicyRow>`
    with asked as (
      select q.policy_id, q.policy_code, q.policy_name, q.bypassed, o.status, ${wasApproved} and not q.bypassed as approved,
        case when ${wasApproved} and not q.bypassed then ${approvalMilliseconds} end as waited
      from operations o join approval_requirements q on q.vault_id = o.vault_id and q.subject_id = o.id
      where ${isReported(filter, interval)} and o.type = 'transfer'
    )
    select policy_id, max(policy_code) as policy_code, max(policy_name) as policy_name,
      count(*) filter (where not bypassed)::float8 as required, count(*) filter (where bypassed)::float8 as bypassed,
      count(*) filter (where approved)::float8 as approved,
      count(*) filter (where not bypassed and status = 'rejected')::float8 as rejected,
      count(*) filter (where not bypassed and status = 'cancelled')::float8 as cancelled,
      count(*) filter (where not bypassed and status = 'awaiting_approval')::float8 as waiting,
      ${timesOf}
    from asked group by policy_id order by required desc, policy_id`.execute(trx)
  return rows
}

export type ApproverRow = TimesRow & {
  user_id: string
  asked: number
  approved: number
  rejected: number
  silent: number
}

export async function listApprovers(trx: Trx, filter: OperationFilter, interval: Interval): Promise<ApproverRow[]> {
  const { rows } = await sql<ApproverRow>`
    with votes as (
      select v.user_id, v.decision, round(extract(epoch from v.voted_at - o.created_at) * 1000) as waited
      from operations o join approval_voters v on v.vault_id = o.vault_id and v.subject_id = o.id
      where ${isReported(filter, interval)} and ${neededApproval}
    )
    select user_id, count(*)::float8 as asked, count(*) filter (where decision = 'approve')::float8 as approved,
      count(*) filter (where decision = 'reject')::float8 as rejected, count(*) filter (where decision is null)::float8 as silent,
      ${timesOf}
    from votes group by user_id order by asked desc, user_id`.execute(trx)
  return rows
}
