import type { Static } from 'typebox'
import { Type } from 'typebox'
import { Closed, Id, Nullable } from '../../../../http/schema.ts'
import type { Activity } from '../activity.ts'
import { formatUsd } from '../exact.ts'
import { assetAmounts, compareFlows, flowsByKey, grossUsd } from '../flows.ts'
import { AssetAmounts, Count, Text, Usd } from '../schema.ts'

export const ActivityByOwnAddress = Closed(
  {
    addressId: Id,
    address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
    label: Nullable(Text('Operations')),
    derivationPath: Text('m/44/60/1/0'),
    segments: Type.Record(Type.String(), Type.Unknown()),
    folderSnapshots: Type.Array(Closed({ id: Id, name: Text('Treasury') })),
    incomingByAsset: AssetAmounts,
    outgoingByAsset: AssetAmounts,
    grossTurnoverUsd: Usd,
    operationsCount: Count,
  },
  { $id: 'ActivityByOwnAddress' },
)

/** One entry per address of the vault that has operations. */
export function breakDownByOwnAddress(activity: Activity): Static<typeof ActivityByOwnAddress>[] {
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
