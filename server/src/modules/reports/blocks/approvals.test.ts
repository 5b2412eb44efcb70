import { expect, it } from 'vitest'
import { secondsFigures, summarizeApprovals } from './approvals.ts'

it('counts transfers by outcome and times the approved ones', () => {
  const counts = [
    { status: 'confirmed', count: 2 },
    { status: 'pending', count: 1 },
    { status: 'rejected', count: 3 },
    { status: 'awaiting_approval', count: 4 },
    { status: 'cancelled', count: 5 },
  ] as const
  // The waits are 1.000, 2.001 and 6.000 seconds: 9.001 / 3 = 3.000333 seconds.
  const times = { count: 3, sum: 9001n, lower: 2001n, upper: 2001n, longest: 6000n }
  expect(summarizeApprovals(counts, times)).toEqual({
    operationsRequiringApproval: 15,
    approvedOperations: 3,
    rejectedOperations: 3,
    cancelledOperations: 5,
    pendingOperations: 4,
    averageApprovalSeconds: 3,
    medianApprovalSeconds: 2.001,
    maximumApprovalSeconds: 6,
  })
})

it('returns the mean of the two middle times, and null without any', () => {
  expect(secondsFigures({ count: 2, sum: 3001n, lower: 1000n, upper: 2001n, longest: 2001n })).toEqual({
    // 1500.5 milliseconds round to the even 1500.
    averageApprovalSeconds: 1.5,
    medianApprovalSeconds: 1.5005,
    maximumApprovalSeconds: 2.001,
  })
  expect(secondsFigures(null).averageApprovalSeconds).toBeNull()
})
