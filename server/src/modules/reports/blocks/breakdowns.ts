import { type Static, Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, Timestamp } from '../../../http/schema.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { formatUsd } from '../requests/exact.ts'
import {
  Amount,
  AssetAmounts,
  asset,
  Count,
  counts,
  Profile,
  reportedStatuses,
  Text,
  Usd,
  usd,
} from '../requests/schema.ts'
import { feeFigures, sumFees } from './fees.ts'
import {
  type Activity,
  assetAmounts,
  compareFlows,
  emptyFlow,
  flowsByKey,
  grossUsd,
  nameAsset,
  netByToken,
  netUsd,
  usdFigures,
} from './flows.ts'
import { spreadsOf } from './spreads.ts'

export const ActivityByAddressOwner = Closed(
  {
    ownerId: described(Id, 'Identifier of the owner of the addresses.'),
    owner: described(Profile, 'Profile of the owner.'),
    isMe: described(Type.Boolean({ examples: [true] }), 'True if the owner is the caller.'),
    operationsCount: Count,
    grossTurnoverUsd: Usd,
  },
  { $id: 'ActivityByAddressOwner' },
)

/** Returns an entry per owner of an own address. */
export function breakDownByOwner(activity: Activity, callerId: string): Static<typeof ActivityByAddressOwner>[] {
  return [...flowsByKey(activity.byOwner, activity)].sort(compareFlows).map(([ownerId, flow]) => ({
    ownerId,
    owner: activity.owners.get(ownerId)!,
    isMe: ownerId === callerId,
    operationsCount: flow.count,
    grossTurnoverUsd: formatUsd(grossUsd(flow)),
  }))
}

export const ActivityByAsset = Closed(
  {
    ...asset,
    incoming: Amount,
    outgoing: Amount,
    netFlow: Amount,
    grossTurnover: Amount,
    ...usd,
    fees: described(Amount, 'Booked network fees of these operations, whatever their status, in units of `feeAsset`.'),
    feeAsset: described(
      Nullable(Text('ETH')),
      'Code of the coin of the network, which pays its fees; null without one.',
    ),
    feesUsd: feeFigures.feesUsd,
    ...counts,
    averageAmount: Nullable(Amount),
    medianAmount: Nullable(Amount),
    minimumAmount: Nullable(Amount),
    maximumAmount: Nullable(Amount),
  },
  { $id: 'ActivityByAsset' },
)

/** Returns an entry per token of the report. Mean, median and extremes are null where no operation counts. */
export function breakDownByAsset(activity: Activity): Static<typeof ActivityByAsset>[] {
  const { assets } = activity
  const keyed = activity.overall.map((group) => ({ ...group, key: group.tokenId }))
  const spreads = spreadsOf(activity)
  const nameOf = (tokenId: string) => assets.get(tokenId)!.assetCode + tokenId
  return [...flowsByKey(keyed, activity)]
    .sort(([idA, a], [idB, b]) => compareFlows([nameOf(idA), a], [nameOf(idB), b]))
    .map(([tokenId, flow]) => {
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
        ...feesOfToken(activity, tokenId),
        operationsCount: flow.count,
        incomingCount: flow.incomingCount,
        outgoingCount: flow.outgoingCount,
        averageAmount: spread?.average ?? null,
        medianAmount: spread?.median ?? null,
        minimumAmount: spread?.minimum ?? null,
        maximumAmount: spread?.maximum ?? null,
      }
    })
}

function feesOfToken(activity: Activity, tokenId: string) {
  const { feesByAsset, feesUsd } = sumFees(
    activity.overall.filter((group) => group.tokenId === tokenId),
    activity,
  )
  return { fees: feesByAsset[0]?.amount ?? '0', feeAsset: activity.coinOf(tokenId)?.assetCode ?? null, feesUsd }
}

export const ActivityByCategory = Closed(
  {
    category: described(
      Nullable(Text('payroll')),
      'Key of the category; null for operations without a category that the caller sees.',
    ),
    count: Count,
    incomingByAsset: AssetAmounts,
    outgoingByAsset: AssetAmounts,
    usdValue: described(Usd, 'Sum of their USD values; operations without a rate are left out.'),
    ...feeFigures,
  },
  { $id: 'ActivityByCategory' },
)

/**
 * Returns an entry per category, by the first category of each operation that the viewer may see; its key is null for
 * operations without one.
 */
export function breakDownByCategory(activity: Activity): Static<typeof ActivityByCategory>[] {
  const groupsOf = (category: string | null) => activity.byCategory.filter(({ key }) => key === category)
  return [...flowsByKey(activity.byCategory, activity)]
    .sort(([keyA, a], [keyB, b]) => compareFlows([keyA ?? '', a], [keyB ?? '', b]))
    .map(([category, flow]) => ({
      category,
      count: flow.count,
      incomingByAsset: assetAmounts(flow.incoming, activity.assets),
      outgoingByAsset: assetAmounts(flow.outgoing, activity.assets),
      usdValue: formatUsd(grossUsd(flow)),
      ...sumFees(groupsOf(category), activity),
    }))
}

export const ActivityByCounterparty = Closed(
  {
    counterpartyId: described(
      Nullable(Id),
      'Identifier of the counterparty; null for operations without a counterparty.',
    ),
    name: described(
      Nullable(Text('Northwind Trading')),
      'Name of the counterparty; null for operations without a counterparty.',
    ),
    kind: described(Nullable(Text('company')), 'Kind of the counterparty; null for operations without a counterparty.'),
    incomingByAsset: AssetAmounts,
    outgoingByAsset: AssetAmounts,
    grossTurnoverUsd: Usd,
    netFlowUsd: Usd,
    operationsCount: Count,
  },
  { $id: 'ActivityByCounterparty' },
)

/** Returns an entry per counterparty; the entry whose `counterpartyId` is null holds operations without one. */
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

export const ActivityByOwnAddress = Closed(
  {
    addressId: Id,
    address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
    label: Nullable(Text('Operations')),
    derivationPath: Text('m/44/60/1/0'),
    segments: described(
      Type.Record(Type.String(), Type.Unknown()),
      'Segment code to path value, without network and index.',
    ),
    folderSnapshots: described(
      Type.Array(Closed({ id: Id, name: Text('Treasury') })),
      'The folders of the address that the caller sees, by `folderClassification`.',
    ),
    incomingByAsset: AssetAmounts,
    outgoingByAsset: AssetAmounts,
    grossTurnoverUsd: Usd,
    operationsCount: Count,
  },
  { $id: 'ActivityByOwnAddress' },
)

/** Returns an entry per address of the vault that has operations. */
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

export const ActivityByStatus = Closed(
  {
    status: described(Enum(reportedStatuses), 'Status of the operations.'),
    count: Count,
    amountsByAsset: described(AssetAmounts, 'Sum of their amounts, per token.'),
    usdValue: described(Usd, 'Sum of their USD values; operations without a rate are left out.'),
  },
  { $id: 'ActivityByStatus' },
)

/** Returns an entry per status that occurs, in the order of the lifecycle of a transfer; here every status has its own sums. */
export function breakDownByStatus({ overall, assets }: Activity): Static<typeof ActivityByStatus>[] {
  return reportedStatuses.flatMap((status) => {
    const groups = overall.filter((group) => group.status === status)
    if (groups.length === 0) return []
    const amounts = new Map<string, bigint>()
    for (const { tokenId, amount } of groups) amounts.set(tokenId, (amounts.get(tokenId) ?? 0n) + amount)
    return {
      status,
      count: groups.reduce((sum, { count }) => sum + count, 0),
      amountsByAsset: assetAmounts(amounts, assets),
      usdValue: formatUsd(groups.reduce((sum, { usd }) => sum + usd, 0n)),
    }
  })
}

export const ActivityPeriod = Closed(
  {
    periodStart: described(Timestamp, 'Start of the period, included, in UTC.'),
    periodEnd: described(Timestamp, 'End of the period, excluded, in UTC.'),
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

/** Returns an entry per bucket of the interval, including empty buckets. */
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
