import type { Static } from 'typebox'
import { Closed, Nullable, Timestamp } from '../../../../http/schema.ts'
import { formatDecimal } from '../../../../lib/money.ts'
import type { OperationStatus } from '../../../../lib/operations.ts'
import type { Activity } from '../activity.ts'
import { assetAmounts, assetEntries, flowOf, grossByToken, netByToken, usdFigures } from '../flows.ts'
import { AssetAmounts, Count, counts, usd } from '../schema.ts'
import { spreadsOf } from '../spread.ts'

export const ActivitySummary = Closed(
  {
    ...counts,
    confirmedCount: Count,
    pendingCount: Count,
    awaitingApprovalCount: Count,
    rejectedCount: Count,
    cancelledCount: Count,
    failedCount: Count,
    activeDays: Count,
    ...usd,
    firstOperationAt: Nullable(Timestamp),
    lastOperationAt: Nullable(Timestamp),
    incomingAmountByAsset: AssetAmounts,
    outgoingAmountByAsset: AssetAmounts,
    grossTurnoverByAsset: AssetAmounts,
    netFlowByAsset: AssetAmounts,
    averageAmountByAsset: AssetAmounts,
    medianAmountByAsset: AssetAmounts,
    minimumAmountByAsset: AssetAmounts,
    maximumAmountByAsset: AssetAmounts,
  },
  { $id: 'ActivitySummary' },
)

/** The totals of the report. Counts include all its operations; sums, means and extremes only those that count. */
export function summarize(activity: Activity): Static<typeof ActivitySummary> {
  const { overall, assets } = activity
  const flow = flowOf(overall, activity)
  const spreads = [...spreadsOf(activity)]
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
    firstOperationAt: instants.length === 0 ? null : new Date(Math.min(...instants)).toISOString(),
    lastOperationAt: instants.length === 0 ? null : new Date(Math.max(...instants)).toISOString(),
    incomingAmountByAsset: assetAmounts(flow.incoming, assets),
    outgoingAmountByAsset: assetAmounts(flow.outgoing, assets),
    grossTurnoverByAsset: assetAmounts(grossByToken(flow), assets),
    netFlowByAsset: assetAmounts(netByToken(flow), assets),
    averageAmountByAsset: assetEntries(
      spreads.map(([id, { average }]) => [id, average]),
      assets,
    ),
    medianAmountByAsset: assetEntries(
      spreads.map(([id, { median }]) => [id, median]),
      assets,
    ),
    minimumAmountByAsset: assetEntries(
      spreads.map(([id, { minimum }]) => [id, formatDecimal(minimum, assets.get(id)!.decimals)]),
      assets,
    ),
    maximumAmountByAsset: assetEntries(
      spreads.map(([id, { maximum }]) => [id, formatDecimal(maximum, assets.get(id)!.decimals)]),
      assets,
    ),
  }
}
