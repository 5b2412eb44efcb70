import type { Static } from 'typebox'
import { Closed } from '../../../http/schema.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import { divideHalfEven, secondsOf } from '../requests/exact.ts'
import { approvalSeconds, Count } from '../requests/schema.ts'

export const ActivityApprovals = Closed(
  {
    operationsRequiringApproval: Count,
    approvedOperations: Count,
    rejectedOperations: Count,
    cancelledOperations: Count,
    pendingOperations: Count,
    ...approvalSeconds,
  },
  {
    $id: 'ActivityApprovals',
    description:
      'Approvals of the transfers of the report, and their duration. The transfers of a payout needed the votes of their payout.',
  },
)

type ApprovalSeconds = Pick<Static<typeof ActivityApprovals>, keyof typeof approvalSeconds>

/** Transfers that needed votes, by status. */
export type ApprovalCount = { status: OperationStatus; count: number }

/** The waiting times of approved transfers, in milliseconds, from their creation to the vote that approved them. */
export type ApprovalTimes = { count: number; sum: bigint; lower: bigint; upper: bigint; longest: bigint }

/** Summarises transfers that needed votes: their outcome, and the waiting times of the approved transfers. */
export function summarizeApprovals(
  counts: readonly ApprovalCount[],
  times: ApprovalTimes | null,
): Static<typeof ActivityApprovals> {
  const countOf = (...statuses: OperationStatus[]) =>
    counts.filter(({ status }) => statuses.includes(status)).reduce((sum, { count }) => sum + count, 0)
  return {
    operationsRequiringApproval: counts.reduce((sum, { count }) => sum + count, 0),
    approvedOperations: countOf('pending', 'confirmed', 'failed'),
    rejectedOperations: countOf('rejected'),
    cancelledOperations: countOf('cancelled'),
    pendingOperations: countOf('awaiting_approval'),
    ...secondsFigures(times),
  }
}

/** Returns the mean (to the millisecond, half to even), median and longest of waiting times, in seconds; null when there are none. */
export function secondsFigures(times: ApprovalTimes | null): ApprovalSeconds {
  if (times === null || times.count === 0) {
    return { averageApprovalSeconds: null, medianApprovalSeconds: null, maximumApprovalSeconds: null }
  }
  return {
    averageApprovalSeconds: secondsOf(divideHalfEven(times.sum, BigInt(times.count))),
    medianApprovalSeconds: secondsOf(times.lower + times.upper) / 2,
    maximumApprovalSeconds: secondsOf(times.longest),
  }
}
