import type { Static } from 'typebox'
import { Closed, Timestamp } from '../../../../http/schema.ts'
import type { Activity } from '../activity.ts'
import { formatUsd } from '../exact.ts'
import { assetAmounts, emptyFlow, flowsByKey, netByToken, netUsd } from '../flows.ts'
import { AssetAmounts, Count, Usd } from '../schema.ts'

export const ActivityPeriod = Closed(
  {
    periodStart: Timestamp,
    periodEnd: Timestamp,
    incomingByAsset: AssetAmounts,
    outgoingByAsset: AssetAmounts,
    netFlowByAsset: AssetAmounts,
    incomingUsd: Usd,
    outgoingUsd: Usd,
    netFlowUsd: Usd,
    operationsCount: Count,
  },
  { $id: 'ActivityPeriod' },
)

/** One entry per bucket of the interval, including empty ones. */
export function toTimeline(activity: Activity): Static<typeof ActivityPeriod>[] {
  const { calendar, assets } = activity
  const keyed = activity.byDay.map((group) => ({ ...group, key: calendar.bucketOfDay[group.key]! }))
  const flows = flowsByKey(keyed, activity)
  return calendar.buckets.map(({ start, end }, bucket) => {
    const flow = flows.get(bucket) ?? emptyFlow()
    return {
      periodStart: start.toISOString(),
      periodEnd: end.toISOString(),
      incomingByAsset: assetAmounts(flow.incoming, assets),
      outgoingByAsset: assetAmounts(flow.outgoing, assets),
      netFlowByAsset: assetAmounts(netByToken(flow), assets),
      incomingUsd: formatUsd(flow.incomingUsd),
      outgoingUsd: formatUsd(flow.outgoingUsd),
      netFlowUsd: formatUsd(netUsd(flow)),
      operationsCount: flow.count,
    }
  })
}
