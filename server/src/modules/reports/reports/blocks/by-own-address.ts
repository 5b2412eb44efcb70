import type { Activity } from '../activity.ts'
import { formatUsd } from '../exact.ts'
import { assetAmounts, compareFlows, flowsByKey, grossUsd } from '../flows.ts'

/** One entry per address of the vault on whose side operations are. */
export function breakDownByOwnAddress(activity: Activity) {
  return [...flowsByKey(activity.byAddress, activity)].sort(compareFlows).map(([addressId, flow]) => {
    const { address, label, derivationPath, segments, folderSnapshots } = activity.addresses.get(addressId)!
    return {
      addressId,
      address,
      label,
      derivationPath,
      segments,
      folderSnapshots,
      incomingByAsset: assetAmounts(flow.incoming, activity.assets),
      outgoingByAsset: assetAmounts(flow.outgoing, activity.assets),
      grossTurnoverUsd: formatUsd(grossUsd(flow)),
      operationsCount: flow.count,
    }
  })
}
