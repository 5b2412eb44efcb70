import type { OperationStatus, OperationType } from '../../../lib/operations.ts'
import type { Calendar, Interval } from './buckets.ts'
import type { Profile } from './schema.ts'

/** The input of the blocks of a report: sums of operations by a few properties, all read in one snapshot. */

/** In the order of a report. */
export const reportedStatuses = [
  'awaiting_approval',
  'pending',
  'confirmed',
  'rejected',
  'cancelled',
  'failed',
] as const satisfies readonly OperationStatus[]

export type Asset = {
  tokenId: string
  assetCode: string
  assetSymbol: string
  network: string
  contractAddress: string | null
  decimals: number
}

/** The operations of one token, type and status, added up. Amounts are raw, `usd` is in cents. */
export type Group = {
  tokenId: string
  type: OperationType
  status: OperationStatus
  count: number
  amount: bigint
  usd: bigint
  /** How many of them have a USD value. */
  rated: number
}

/** A group of operations that share another property too: a counterparty, an address, a day. */
export type Keyed<Key> = Group & { key: Key }

/** A group over all operations of the report, with the sums that only the whole needs. */
export type Overall = Group & {
  /** In cents; null when none has a USD value. */
  largestUsd: bigint | null
  firstAt: Date
  lastAt: Date
  faults: Faults
}

/** How many operations of a group lack something, or were reclassified. */
export type Faults = {
  withoutBlockchainTime: number
  withoutPaymentPurpose: number
  withoutBusinessReference: number
  uncategorized: number
  unmatched: number
  retroactivelyMatched: number
  conflictingCounterparty: number
  /** The address book now names a different counterparty for the other side, or one where there was none, or none any more. */
  reclassified: number
}

/** The minimum, the two middle values and the maximum of the amounts that count; raw. */
export type OrderStatistics = { smallest: bigint; lower: bigint; upper: bigint; largest: bigint }

export type CounterpartyDetails = { name: string; kind: string }
export type AddressDetails = {
  address: string
  label: string | null
  derivationPath: string
  segments: Record<string, unknown>
  folderSnapshots: { id: string; name: string }[]
}
export type Activity = {
  interval: Interval
  calendar: Calendar
  assets: ReadonlyMap<string, Asset>
  /** Whether operations of this status enter sums: confirmed ones, or all that the filter `statuses` names. */
  isCounted: (status: OperationStatus) => boolean
  overall: Overall[]
  /** By the index of the day in the calendar. */
  byDay: Keyed<number>[]
  byCounterparty: Keyed<string | null>[]
  byAddress: Keyed<string>[]
  byCategory: Keyed<string | null>[]
  byOwner: Keyed<string>[]
  /** Whether the address book now names another counterparty for any operation than at its creation. */
  hasReclassified: boolean
  /** By token. */
  orderStatistics: ReadonlyMap<string, OrderStatistics>
  counterparties: ReadonlyMap<string, CounterpartyDetails>
  addresses: ReadonlyMap<string, AddressDetails>
  owners: ReadonlyMap<string, Profile>
}
