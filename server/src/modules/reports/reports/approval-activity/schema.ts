import { Type } from 'typebox'
import { Closed, Id, Nullable, Ref } from '../../../../http/schema.ts'
import { ActivityApprovals } from '../blocks/approvals.ts'
import { BreakdownIgnored, commonQuery, filters } from '../query-schema.ts'
import { approvalSeconds, Count, Profile, ReportHeader, Seconds, Text } from '../schema.ts'

export const ApprovalActivityQuery = Closed({ ...commonQuery, ...filters, breakdownBy: BreakdownIgnored })

export const PolicyApprovals = Closed(
  {
    policyId: Id,
    policyCode: Text('large-transfers'),
    policyName: Text('Large transfers'),
    operationsRequiringApproval: Count,
    bypassedOperations: Count,
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
    askedCount: Count,
    approvedCount: Count,
    rejectedCount: Count,
    withoutVoteCount: Count,
    averageVoteSeconds: Seconds,
    medianVoteSeconds: Seconds,
    maximumVoteSeconds: Seconds,
  },
  { $id: 'ApproverActivity' },
)

export const ApprovalActivityReport = Closed(
  {
    report: Ref(ReportHeader),
    approvals: Ref(ActivityApprovals),
    byPolicy: Type.Array(Ref(PolicyApprovals)),
    byApprover: Type.Array(Ref(ApproverActivity)),
  },
  { $id: 'ApprovalActivityReport' },
)
