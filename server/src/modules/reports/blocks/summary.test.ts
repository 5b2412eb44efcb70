import { expect, it } from 'vitest'
import { coin, dollar, golden, nothing } from '../../../testing/golden-activity.ts'
import { summarize } from './summary.ts'

it('counts all operations, and sums the confirmed ones', () => {
  expect(summarize(golden)).toEqual({
    operationsCount: 7,
    incomingCount: 3,
    outgoingCount: 4,
    confirmedCount: 5,
    pendingCount: 0,
    awaitingApprovalCount: 1,
    rejectedCount: 0,
    cancelledCount: 0,
    failedCount: 1,
    activeDays: 3,
    incomingUsd: '35.05',
    outgoingUsd: '9.10',
    grossTurnoverUsd: '44.15',
    netFlowUsd: '25.95',
    // The fee of the failed transfer was paid, too; it has no value.
    feesByAsset: [coin('0.06')],
    feesUsd: '0.50',
    firstOperationAt: '2026-03-01T09:00:00.000Z',
    lastOperationAt: '2026-03-04T23:59:00.000Z',
    incomingAmountByAsset: [coin('3.5'), dollar('7')],
    outgoingAmountByAsset: [coin('0.51'), dollar('4')],
    grossTurnoverByAsset: [coin('4.01'), dollar('11')],
    netFlowByAsset: [coin('2.99'), dollar('3')],
    // 401 / 3 = 133.67 hundredths, 11 / 2 = 5.5, which rounds to the even 6.
    averageAmountByAsset: [coin('1.34'), dollar('6')],
    // The mean of 4 and 7 is exact, although the token has no decimals.
    medianAmountByAsset: [coin('1'), dollar('5.5')],
    minimumAmountByAsset: [coin('0.51'), dollar('4')],
    maximumAmountByAsset: [coin('2.5'), dollar('7')],
  })
})

it('counts every status of the filter in the sums', () => {
  const all = { ...golden, isCounted: () => true }
  expect(summarize(all)).toMatchObject({ outgoingUsd: '19.10', outgoingAmountByAsset: [coin('0.61'), dollar('13')] })
})

it('returns zeros and nulls without operations', () => {
  expect(summarize(nothing)).toMatchObject({
    operationsCount: 0,
    activeDays: 0,
    grossTurnoverUsd: '0.00',
    feesByAsset: [],
    feesUsd: '0.00',
    firstOperationAt: null,
    lastOperationAt: null,
    medianAmountByAsset: [],
  })
})
