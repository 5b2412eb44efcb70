import type { Group, Keyed, Overall } from '../blocks/flows.ts'

/** The operations of a report, summed by every property that a block is broken down by. */
export type Groups = {
  overall: Overall[]
  byDay: Keyed<number>[]
  byAddress: Keyed<string>[]
  /** By the counterparty that the report shows, and by the one that was recorded at the creation. */
  byCounterparty: Keyed<string | null>[]
  byRecorded: Keyed<string | null>[]
  byCategory: Keyed<string | null>[]
}

/** Groups in one order, wherever they were summed. */
export function inOrder<Sum extends Group & { key?: string | number | null }>(groups: readonly Sum[]): Sum[] {
  const named = groups.map((group) => ({ group, name: `${group.key} ${group.tokenId} ${group.type} ${group.status}` }))
  return named.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ group }) => group)
}
