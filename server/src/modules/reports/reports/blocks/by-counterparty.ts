import type { Static } from 'typebox'
import { Closed, Id, Nullable } from '../../../../http/schema.ts'
import type { Activity } from '../activity.ts'
import { formatUsd } from '../exact.ts'
import { assetAmounts, compareFlows, flowsByKey, grossUsd, netUsd } from '../flows.ts'
import { AssetAmounts, Count, Text, Usd } from '../schema.ts'

export const ActivityByCounterparty = Closed(
  {
    counterpartyId: Nullable(Id),
    name: Nullable(Text('Northwind Trading')),
    kind: Nullable(Text('company')),
    incomingByAsset: AssetAmounts,
    outgoingByAsset: AssetAmounts,
    grossTurnoverUsd: Usd,
    netFlowUsd: Usd,
    operationsCount: Count,
  },
  { $id: 'ActivityByCounterparty' },
)

/** One entry per counterparty; operations without one are the entry whose `counterpartyId` is null. */
export function breakDownByCounterparty(activity: Activity): Static<typeof ActivityByCounterparty>[] {
  return [...flowsByKey(activity.byCounterparty, activity)]
    .sort(([idA, a], [idB, b]) => compareFlows([idA ?? '', a], [idB ?? '', b]))
    .map(([counterpartyId, flow]) => {
      const known = counterpartyId === null ? undefined : activity.counterparties.get(counterpartyId)
      return {
        counterpartyId,
        name: known?.name ?? null,
        kind: known?.kind ?? null,
        incomingByAsset: assetAmounts(flow.incoming, activity.assets),
        outgoingByAsset: assetAmounts(flow.outgoing, activity.assets),
        grossTurnoverUsd: formatUsd(grossUsd(flow)),
        netFlowUsd: formatUsd(netUsd(flow)),
        operationsCount: flow.count,
      }
    })
}
