import type { NetworkType } from '../../../lib/onchain-address.ts'

/**
 * What selectors look at. A fact that is left out is unknown, and an unknown fact fails closed (contract 8.8);
 * a fact is left out only when the action does not have it or nobody can tell it. Safe for JSON, `now` apart:
 * a decision keeps the facts it was made on.
 */
export type Facts = {
  now: Date
  initiatorId: string
  /** Groups of the vault that the initiator is in; the built-in group `everyone` included. */
  initiatorGroupIds: string[]
  /** The transfer that is decided on again: velocity must not count it twice. */
  operationId?: string
  token?: { id: string; code: string }
  /** Plain decimal string in token units. */
  amount?: string
  /** USD per token unit, a plain decimal string; left out when no rate is fresh enough. */
  usdRate?: string
  /** What the source address has available of the token before the transfer, in token units. */
  available?: string
  networkSlug?: string
  sourceAddressId?: string
  sourceAddress?: string
  /** Folders that the source address is in. */
  addressGroupIds?: string[]
  /** The segments of the source address, or of the address that shall be created, by their codes. */
  routeVariants?: { route: string; variant: string }[]
  /** `key` is the one of lib/onchain-address.ts. */
  destination?: { address: string; key: string; networkType: NetworkType }
  destinationType?: DestinationType
  /** Who is paid, or who is changed; null: certainly nobody of the address book. */
  counterparty?: CounterpartyFacts | null
  /** The counterparty groups acted upon (counterparty_group_*); for other actions those of `counterparty` count. */
  counterpartyGroupIds?: string[]
  /** Key of the category that the operation is declared to be of; null: of none. */
  category?: string | null
  /** What operations other than this one add up to; gathered by `decide` when a candidate asks for it. */
  velocity?: VelocitySum[]
}

export const destinationTypes = ['internal', 'counterparty', 'unknown'] as const
export type DestinationType = (typeof destinationTypes)[number]

export const counterpartyKinds = ['individual', 'company', 'exchange', 'service', 'other'] as const

export type CounterpartyFacts = {
  /** Left out while it does not exist yet: a creation knows only the kind. */
  id?: string
  kind?: string
  /** ISO timestamp. */
  createdAt?: string
  /** Groups that it is in now. */
  groupIds?: string[]
}

export const velocityScopes = ['initiator', 'sourceAddress', 'destination', 'vault'] as const
export type VelocityScope = (typeof velocityScopes)[number]

/** The transfers that wait, run or are confirmed, of one scope within one window; without the one that is decided on. */
export type VelocitySum = {
  per: VelocityScope
  windowSeconds: number
  count: number
  /** Sum in units of the token that is decided on. */
  amount: string
  /** Exact sum at the rates of the moments of creation; null when one of them had none. */
  usd: string | null
}
