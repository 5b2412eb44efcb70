import type { Activity } from '../activity.ts'
import { formatUsd } from '../exact.ts'
import { assetAmounts, compareFlows, flowsByKey, grossUsd, netUsd } from '../flows.ts'

/** One entry per counterparty; operations without one are the entry whose `counterpartyId` is null. */
export function breakDownByCounterparty(activity: Activity) {
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
