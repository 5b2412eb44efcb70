import type { Static } from 'typebox'
import { Closed, described, Nullable, Timestamp } from '../../../http/schema.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import { AssetAmounts, Count, counts, usd } from '../requests/schema.ts'
import { feeFigures, sumFees } from './fees.ts'
import { type Activity, assetAmounts, assetEntries, flowOf, grossByToken, netByToken, usdFigures } from './flows.ts'
import { type Spread, spreadsOf } from './spreads.ts'

export const ActivitySummary = Closed(
  {
    ...counts,
    confirmedCount: described(Count, 'Number of confirmed operations.'),
    pendingCount: described(Count, 'Number of transfers that were handed to the wallet service and are not confirmed.'),
    awaitingApprovalCount: described(Count, 'Number of transfers that wait for votes.'),
    rejectedCount: described(Count, 'Number of rejected transfers.'),
    cancelledCount: described(Count, 'Number of cancelled transfers.'),
    failedCount: described(Count, 'Number of failed transfers.'),
    activeDays: described(Count, 'Number of days of `timezone` with at least one operation.'),
    ...usd,
    ...feeFigures,
    firstOperationAt: described(
      Nullable(Timestamp),
      'Instant of the earliest operation of the interval, in UTC; null without operations.',
    ),
    lastOperationAt: described(
      Nullable(Timestamp),
      'Instant of the latest operation of the interval, in UTC; null without operations.',
    ),
    incomingAmountByAsset: described(AssetAmounts, 'Incoming amounts, per token.'),
    outgoingAmountByAsset: described(AssetAmounts, 'Outgoing amounts, per token.'),
    grossTurnoverByAsset: described(AssetAmounts, 'Sum of incoming and outgoing amounts, per token.'),
    netFlowByAsset: AssetAmounts,
    averageAmountByAsset: described(AssetAmounts, 'Mean amount of an operation, per token.'),
    medianAmountByAsset: described(AssetAmounts, 'Exact median of the amounts, per token.'),
    minimumAmountByAsset: described(AssetAmounts, 'Smallest amount, per token.'),
    maximumAmountByAsset: described(AssetAmounts, 'Largest amount, per token.'),
  },
  {
    $id: 'ActivitySummary',
    description: 'Counts and sums over the whole interval. Without `statuses`, sums include only confirmed operations.',
  },
)

/** Returns the totals of the report. Counts include all of its operations; sums, means and extremes only those of the selected statuses. */
export function summarize(activity: Activity): Static<typeof ActivitySummary> {
  const { overall, assets } = activity
  const flow = flowOf(overall, activity)
  const spreads = [...spreadsOf(activity)]
  const spread = (figure: keyof Spread) => {
    const amounts = spreads.map(([id, figures]) => [id, figures[figure]] as const)
    return assetEntries(amounts, assets)
  }
  const countOf = (status: OperationStatus) =>
    overall.filter((group) => group.status === status).reduce((sum, { count }) => sum + count, 0)
  const instants = overall.flatMap(({ firstAt, lastAt }) => [firstAt.getTime(), lastAt.getTime()])
  return {
    operationsCount: flow.count,
    incomingCount: flow.incomingCount,
    outgoingCount: flow.outgoingCount,
    confirmedCount: countOf('confirmed'),
    pendingCount: countOf('pending'),
    awaitingApprovalCount: countOf('awaiting_approval'),
    rejectedCount: countOf('rejected'),
    cancelledCount: countOf('cancelled'),
    failedCount: countOf('failed'),
    activeDays: new Set(activity.byDay.map(({ key }) => key)).size,
    ...usdFigures(flow),
    ...sumFees(overall, activity),
    firstOperationAt: instants.length === 0 ? null : new Date(Math.min(...instants)).toISOString(),
    lastOperationAt: instants.length === 0 ? null : new Date(Math.max(...instants)).toISOString(),
    incomingAmountByAsset: assetAmounts(flow.incoming, assets),
    outgoingAmountByAsset: assetAmounts(flow.outgoing, assets),
    grossTurnoverByAsset: assetAmounts(grossByToken(flow), assets),
    netFlowByAsset: assetAmounts(netByToken(flow), assets),
    averageAmountByAsset: spread('average'),
    medianAmountByAsset: spread('median'),
    minimumAmountByAsset: spread('minimum'),
    maximumAmountByAsset: spread('maximum'),
  }
}
