import { Type } from 'typebox'
import { Closed, described, Id, Nullable, Ref } from '../../../../http/schema.ts'
import { ActivityApprovals } from '../blocks/approvals.ts'
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
} from '../schema.ts'

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
