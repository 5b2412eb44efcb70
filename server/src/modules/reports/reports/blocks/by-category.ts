import type { Static } from 'typebox'
import { Closed, Nullable } from '../../../../http/schema.ts'
import type { Activity } from '../activity.ts'
import { formatUsd } from '../exact.ts'
import { assetAmounts, compareFlows, flowsByKey, grossUsd } from '../flows.ts'
import { AssetAmounts, Count, Text, Usd } from '../schema.ts'

export const ActivityByCategory = Closed(
  {
    category: Nullable(Text('payroll')),
    count: Count,
    incomingByAsset: AssetAmounts,
    outgoingByAsset: AssetAmounts,
    usdValue: Usd,
  },
  { $id: 'ActivityByCategory' },
)

/** One entry per category, by the first one of each operation that the viewer may see; null for operations without one. */
export function breakDownByCategory(activity: Activity): Static<typeof ActivityByCategory>[] {
  return [...flowsByKey(activity.byCategory, activity)]
    .sort(([keyA, a], [keyB, b]) => compareFlows([keyA ?? '', a], [keyB ?? '', b]))
    .map(([category, flow]) => ({
      category,
      count: flow.count,
      incomingByAsset: assetAmounts(flow.incoming, activity.assets),
      outgoingByAsset: assetAmounts(flow.outgoing, activity.assets),
      usdValue: formatUsd(grossUsd(flow)),
    }))
}
