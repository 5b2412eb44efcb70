import type { NetworkType } from '../../lib/onchain-address.ts'

/**
 * What selectors look at. A fact that is left out is unknown, and an unknown fact fails closed (decisions.md, section 6);
 * whoever gathers facts leaves out only what the action does not have or what nobody can tell.
 */
export type Facts = {
  now: Date
  initiatorId: string
  /** Groups of the vault that the initiator is in; the built-in group `everyone` included. */
  initiatorGroupIds: string[]
  token?: { id: string; code: string }
  /** Plain decimal string in token units. */
  amount?: string
  networkSlug?: string
  sourceAddressId?: string
  sourceAddress?: string
  /** `key` is the one of lib/onchain-address.ts. */
  destination?: { address: string; key: string; networkType: NetworkType }
  destinationType?: 'internal' | 'counterparty' | 'unknown'
}
