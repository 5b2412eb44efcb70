import { formatDecimal } from '../../../lib/money.ts'
import type { OperationStatus, OperationType } from '../../../lib/operations.ts'
import type { Calendar } from '../requests/buckets.ts'
import type { AddressDetails, Asset, CounterpartyDetails } from '../requests/details.ts'
import { formatUsd } from '../requests/exact.ts'
import type { Profile } from '../requests/schema.ts'

/** The input of the blocks of a report: sums of operations by a few properties, all read in one snapshot. */

/** The operations of one token, type and status, added up. Amounts are raw, `usd` is in cents. */
export type Group = {
  tokenId: string
  type: OperationType
  status: OperationStatus
  count: number
  amount: bigint
  usd: bigint
  /** The number of operations that have a USD value. */
  rated: number
}

/** The booked network fees of a group: in raw units of the coin of the network of its token, and in cents. */
export type Fees = { fees: bigint; feesUsd: bigint }

/** A group of operations that share a further property: a counterparty, an address, a day. */
export type Keyed<Key> = Group & { key: Key }

/** A group over all operations of the report, with the sums that only the whole report needs. */
export type Overall = Group &
  Fees & {
    /** The largest value in cents; null when no operation has a USD value. */
    largestUsd: bigint | null
    firstAt: Date
    lastAt: Date
    faults: Faults
  }

/** The data that operations may lack, and the ways in which they may have been reclassified. */
export const faultNames = [
  'withoutBlockchainTime',
  'withoutPaymentPurpose',
  'withoutBusinessReference',
  'withoutFeeUsdRate',
  'uncategorized',
  'unmatched',
  'retroactivelyMatched',
  'conflictingCounterparty',
  // The current counterparty differs from the recorded one: it is another, was added later, or was removed.
  'reclassified',
] as const
/** The number of operations of a group with each of the faults. */
export type Faults = Record<(typeof faultNames)[number], number>

/** The minimum, the two middle values and the maximum of the amounts that count; raw. */
export type OrderStatistics = { smallest: bigint; lower: bigint; upper: bigint; largest: bigint }

export type Activity = {
  calendar: Calendar
  assets: ReadonlyMap<string, Asset>
  /** Returns the coin of the network of a token; null if the registry has none. */
  coinOf: (tokenId: string) => Asset | null
  /** Returns true if operations of this status enter sums: confirmed ones, or all that the filter `statuses` names. */
  isCounted: (status: OperationStatus) => boolean
  overall: Overall[]
  /** The groups by the index of the day in the calendar. */
  byDay: Keyed<number>[]
  byCounterparty: Keyed<string | null>[]
  byAddress: Keyed<string>[]
  byCategory: (Keyed<string | null> & Fees)[]
  byOwner: Keyed<string>[]
  /** The operations that the report gives to another counterparty than the one recorded at their creation. */
  reclassifiedCount: number
  /** The statistics by token. */
  orderStatistics: ReadonlyMap<string, OrderStatistics>
  counterparties: ReadonlyMap<string, CounterpartyDetails>
  addresses: ReadonlyMap<string, AddressDetails>
  owners: ReadonlyMap<string, Profile>
}

/** Incoming and outgoing sums over groups. Counts include all operations, sums only those that count. */
export type Flow = {
  count: number
  incomingCount: number
  outgoingCount: number
  incoming: Map<string, bigint>
  outgoing: Map<string, bigint>
  /** The USD values in cents. */
  incomingUsd: bigint
  outgoingUsd: bigint
  /** The number of operations in the sums, and of those the number with a USD value. */
  countedCount: number
  ratedCount: number
}

type Counting = Pick<Activity, 'isCounted'>

export function flowOf(groups: Iterable<Group>, { isCounted }: Counting): Flow {
  const flow = emptyFlow()
  for (const group of groups) addToFlow(flow, group, isCounted(group.status))
  return flow
}

/** Returns a flow per key, in the order in which keys first appear. */
export function flowsByKey<Key>(groups: Iterable<Group & { key: Key }>, { isCounted }: Counting): Map<Key, Flow> {
  const flows = new Map<Key, Flow>()
  for (const group of groups) {
    const flow = flows.get(group.key) ?? emptyFlow()
    flows.set(group.key, flow)
    addToFlow(flow, group, isCounted(group.status))
  }
  return flows
}

export function emptyFlow(): Flow {
  return {
    count: 0,
    incomingCount: 0,
    outgoingCount: 0,
    incoming: new Map(),
    outgoing: new Map(),
    incomingUsd: 0n,
    outgoingUsd: 0n,
    countedCount: 0,
    ratedCount: 0,
  }
}

function addToFlow(flow: Flow, { type, tokenId, count, amount, usd, rated }: Group, isCounted: boolean): void {
  const isIncoming = type === 'deposit'
  flow.count += count
  if (isIncoming) flow.incomingCount += count
  else flow.outgoingCount += count
  if (!isCounted) return
  flow.countedCount += count
  flow.ratedCount += rated
  const amounts = isIncoming ? flow.incoming : flow.outgoing
  amounts.set(tokenId, (amounts.get(tokenId) ?? 0n) + amount)
  if (isIncoming) flow.incomingUsd += usd
  else flow.outgoingUsd += usd
}

export const grossUsd = (flow: Flow): bigint => flow.incomingUsd + flow.outgoingUsd
export const netUsd = (flow: Flow): bigint => flow.incomingUsd - flow.outgoingUsd
export const grossByToken = (flow: Flow): Map<string, bigint> => combine(flow, (a, b) => a + b)
export const netByToken = (flow: Flow): Map<string, bigint> => combine(flow, (a, b) => a - b)

function combine({ incoming, outgoing }: Flow, by: (a: bigint, b: bigint) => bigint): Map<string, bigint> {
  const tokenIds = new Set([...incoming.keys(), ...outgoing.keys()])
  return new Map([...tokenIds].map((id) => [id, by(incoming.get(id) ?? 0n, outgoing.get(id) ?? 0n)]))
}

type Assets = ReadonlyMap<string, Asset>

/** Returns an asset as blocks present it, without its decimals. */
export function nameAsset({ tokenId, assetCode, assetSymbol, network, contractAddress }: Asset) {
  return { tokenId, assetCode, assetSymbol, network, contractAddress }
}

/** Returns raw amounts by token as entries in token units, in the order of asset codes. */
export function assetAmounts(amounts: ReadonlyMap<string, bigint>, assets: Assets) {
  return assetEntries(
    [...amounts].map(([tokenId, raw]) => [tokenId, formatDecimal(raw, assets.get(tokenId)!.decimals)]),
    assets,
  )
}

/** Returns amounts that are text already, in the order of asset codes. */
export function assetEntries(amounts: Iterable<readonly [tokenId: string, amount: string]>, assets: Assets) {
  return [...amounts].map(([tokenId, amount]) => ({ ...nameAsset(assets.get(tokenId)!), amount })).sort(compareAssets)
}

type Code = Pick<Asset, 'assetCode' | 'tokenId'>
export const compareAssets = (a: Code, b: Code) =>
  compareText(a.assetCode, b.assetCode) || compareText(a.tokenId, b.tokenId)

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Compares two flows in the order of every breakdown: the largest turnover first, then more operations, then by name. */
export function compareFlows([nameA, a]: readonly [string, Flow], [nameB, b]: readonly [string, Flow]): number {
  const difference = grossUsd(b) - grossUsd(a)
  if (difference !== 0n) return difference < 0n ? -1 : 1
  return b.count - a.count || compareText(nameA, nameB)
}

/** Returns the four USD figures of a flow. */
export function usdFigures(flow: Flow) {
  return {
    incomingUsd: formatUsd(flow.incomingUsd),
    outgoingUsd: formatUsd(flow.outgoingUsd),
    grossTurnoverUsd: formatUsd(grossUsd(flow)),
    netFlowUsd: formatUsd(netUsd(flow)),
  }
}
