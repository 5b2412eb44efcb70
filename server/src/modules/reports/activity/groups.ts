import type { Fees, Group, Keyed, Overall } from '../blocks/flows.ts'
import { centsOf } from '../requests/exact.ts'

/** The sums of the operations of a report, by every property that a block breaks down by. */
export type Groups = {
  overall: Overall[]
  byDay: Keyed<number>[]
  byAddress: Keyed<string>[]
  /** By the counterparty that the report shows, and by the counterparty at the creation. */
  byCounterparty: Keyed<string | null>[]
  byRecorded: Keyed<string | null>[]
  byCategory: (Keyed<string | null> & Fees)[]
}

/** Sums of booked fees in the form of SQL; null where there are none. */
export type FeesRow = { fees: string | null; feesUsd: string | null }

export const toFees = ({ fees, feesUsd }: FeesRow): Fees => ({ fees: BigInt(fees ?? 0), feesUsd: centsOf(feesUsd) })

/** Sorts groups, so that the sums of PostgreSQL and of the node have the same order. */
export function inOrder<Sum extends Group & { key?: string | number | null }>(groups: readonly Sum[]): Sum[] {
  const named = groups.map((group) => ({ group, name: `${group.key} ${group.tokenId} ${group.type} ${group.status}` }))
  return named.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ group }) => group)
}
