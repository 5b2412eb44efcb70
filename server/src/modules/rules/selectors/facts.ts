import type { NetworkType } from '../../../lib/onchain-address.ts'

/** The actions on counterparties and their groups, which may be a step of a composite. */
export const chainActions = [
  'counterparty_create',
  'counterparty_update',
  'counterparty_archive',
  'counterparty_group_create',
  'counterparty_group_update',
  'counterparty_group_archive',
  'counterparty_group_add',
  'counterparty_group_remove',
] as const

/** The actions that policies decide on. */
export const actionTypes = [
  ...(['transfer', 'create_address'] as const),
  ...chainActions,
  ...(['hold_place', 'hold_release', 'transfer_resolve', 'event_resolve'] as const),
] as const
export type ActionType = (typeof actionTypes)[number]
export const initiatorKinds = ['person', 'service'] as const
export type InitiatorKind = (typeof initiatorKinds)[number]
export const destinationTypes = ['internal', 'counterparty', 'unknown'] as const
type DestinationType = (typeof destinationTypes)[number]
export const counterpartyKinds = ['individual', 'company', 'exchange', 'service', 'other'] as const
export type CounterpartyFacts = {
  /** Missing while the counterparty does not exist yet: a creation knows only the kind. */
  id?: string
  kind?: string
  /** ISO timestamp. */
  createdAt?: string
  /** Ids of the groups that the counterparty is in now. */
  groupIds?: string[]
}

export const velocityScopes = ['initiator', 'sourceAddress', 'destination', 'vault'] as const
export type VelocityScope = (typeof velocityScopes)[number]

/** The waiting, pending and confirmed transfers of one scope in one window, without the transfer that is decided on. */
export type VelocitySum = {
  per: VelocityScope
  windowSeconds: number
  count: number
  /** Sum in units of the token that is decided on. */
  amount: string
  /** Exact sum at the rates of the time of creation; null when one of the transfers had no rate. */
  usd: string | null
}

/**
 * The facts that selectors look at. A missing fact is unknown, and an unknown fact fails closed (contract 8.8). A fact is
 * missing only when the action does not have it or its value cannot be determined. All facts except `now` are safe for
 * JSON, because a decision stores its facts.
 */
export type Facts = {
  now: Date
  initiatorId: string
  /** Groups of the vault that the initiator is in; the built-in group `everyone` included. */
  initiatorGroupIds: string[]
  /** Missing in decisions of earlier versions. */
  initiatorKind?: InitiatorKind
  /** The transfer that is decided on again: velocity must not count it twice. */
  operationId?: string
  token?: { id: string; code: string }
  /** Plain decimal string in token units. */
  amount?: string
  /** The sums that selectors of amounts use in place of `amount` and `available`, for an order of a payout. Velocity does not. */
  summed?: { amount: string; available: string }
  /** USD per token unit, a plain decimal string; left out when no rate is fresh enough. */
  usdRate?: string
  /** The available balance of the source address before the transfer, in token units. */
  available?: string
  networkSlug?: string
  sourceAddressId?: string
  sourceAddress?: string
  /** Folders that the source address is in. */
  addressGroupIds?: string[]
  /** The segments of the source address, or of the address to create, by their codes. */
  routeVariants?: { route: string; variant: string }[]
  /** `key` is the key of the address in lib/onchain-address.ts. */
  destination?: { address: string; key: string; networkType: NetworkType }
  destinationType?: DestinationType
  /** The counterparty that is paid or changed; null when the address book certainly has no such counterparty. */
  counterparty?: CounterpartyFacts | null
  /** ISO timestamp: when the destination came into the address book; null when the address book certainly does not have it. */
  destinationAddedAt?: string | null
  /** True if the vault has no confirmed transfer to the destination. */
  isFirstPayment?: boolean
  /** True if the destination is a look-alike of an address that the vault knows. */
  isLookAlike?: boolean
  /** The counterparty groups that the action changes (counterparty_group_*). For other actions, the groups of `counterparty` count. */
  counterpartyGroupIds?: string[]
  /** Key of the declared category of the operation; null when it has no category. */
  category?: string | null
  /** The fee limit of the order, in units of the network's coin; left out when the order sets no limit. */
  maxFee?: string
  /** The score of the screening, a whole number from 0 to 100 in text; left out when there is no answer or no screening. */
  riskScore?: string
  /** Sums of other transfers; read by `decide` when a candidate requires them. */
  velocity?: VelocitySum[]
}
