import type { Static } from 'typebox'
import type { Db } from '../../../../db/client.ts'
import { secondsFigures, summarizeApprovals } from '../blocks/approvals.ts'
import { findProfiles } from '../details.ts'
import { type ReportRequest, toHeader } from '../request.ts'
import type { Profile } from '../schema.ts'
import { inSnapshot } from '../snapshot.ts'
import { summarizeVotes, toTimes } from '../votes.ts'
import { type ApproverRow, listApprovers, listPolicies, type PolicyRow } from './queries.ts'
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
