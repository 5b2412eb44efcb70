import type { Static } from 'typebox'
import { Closed, Nullable } from '../../../../http/schema.ts'
import { formatDecimal } from '../../../../lib/money.ts'
import type { Activity } from '../activity.ts'
import { compareFlows, flowsByKey, nameAsset, usdFigures } from '../flows.ts'
import { Amount, asset, counts, usd } from '../schema.ts'
import { spreadsOf } from '../spread.ts'

export const ActivityByAsset = Closed(
  {
    ...asset,
    incoming: Amount,
    outgoing: Amount,
    netFlow: Amount,
    grossTurnover: Amount,
    ...usd,
    ...counts,
    averageAmount: Nullable(Amount),
    medianAmount: Nullable(Amount),
    minimumAmount: Nullable(Amount),
    maximumAmount: Nullable(Amount),
  },
  { $id: 'ActivityByAsset' },
)

/** One entry per token of the report. Mean, median and extremes are null where no operation counts. */
export function breakDownByAsset(activity: Activity): Static<typeof ActivityByAsset>[] {
  const { assets } = activity
  const keyed = activity.overall.map((group) => ({ ...group, key: group.tokenId }))
  const spreads = spreadsOf(activity)
  return [...flowsByKey(keyed, activity)]
    .map(([tokenId, flow]) => [assets.get(tokenId)!.assetCode + tokenId, flow, tokenId] as const)
    .sort(([nameA, a], [nameB, b]) => compareFlows([nameA, a], [nameB, b]))
    .map(([, flow, tokenId]) => {
      const asset = assets.get(tokenId)!
      const [incoming, outgoing] = [flow.incoming.get(tokenId) ?? 0n, flow.outgoing.get(tokenId) ?? 0n]
      const amount = (raw: bigint) => formatDecimal(raw, asset.decimals)
      const spread = spreads.get(tokenId)
      return {
        ...nameAsset(asset),
        incoming: amount(incoming),
        outgoing: amount(outgoing),
        netFlow: amount(incoming - outgoing),
        grossTurnover: amount(incoming + outgoing),
        ...usdFigures(flow),
        operationsCount: flow.count,
        incomingCount: flow.incomingCount,
        outgoingCount: flow.outgoingCount,
        averageAmount: spread?.average ?? null,
        medianAmount: spread?.median ?? null,
        minimumAmount: spread === undefined ? null : amount(spread.minimum),
        maximumAmount: spread === undefined ? null : amount(spread.maximum),
      }
    })
}
