import type { AddressScope } from '../access/address-scope.ts'
import type { Db } from '../db/client.ts'
import { lookUp } from '../modules/operations/feed/feed.ts'
import { type FeedFilters, noFilters } from '../modules/operations/feed/feed-filters.ts'
import { chooseFeedPath, type FeedPath } from '../modules/operations/feed/feed-path.ts'
import type { FeedWorld } from './feed-world.ts'

/** A query of the feed, in the form that the query parameters of a request produce. */
export type FeedQuery = { filters: FeedFilters; folderId?: string; includeShared?: boolean }

/** Returns a query for each filter of the history, with values from `seedFeedWorld`. Member 1 is the viewer. */
export function feedQueries({ idOf, operations }: FeedWorld): Record<string, FeedQuery> {
  const by = (filters: Partial<FeedFilters>): FeedQuery => ({ filters: { ...noFilters, ...filters } })
  const second = (n: number) => new Date(Date.UTC(2025, 0, 1) + Math.floor(n) * 1000)
  return {
    none: by({}),
    'direction=in': by({ type: 'deposit' }),
    'direction=out': by({ type: 'transfer' }),
    'status=awaiting_approval': by({ statuses: ['awaiting_approval'] }),
    'status=confirmed': by({ statuses: ['confirmed'] }),
    'status=failed,pending': by({ statuses: ['failed', 'pending'] }),
    'statuses=confirmed': by({ statuses: ['confirmed'], hasDepositsOfStatus: true }),
    'statuses=confirmed,failed': by({ statuses: ['confirmed', 'failed'], hasDepositsOfStatus: true }),
    'statuses=failed': by({ statuses: ['failed'], hasDepositsOfStatus: true }),
    initiatorId: by({ initiatorId: idOf('user', 1) }),
    'initiatorId of another': by({ initiatorId: idOf('user', 2) }),
    'minimumAmount and maximumAmount': by({
      tokenId: idOf('token', 3),
      minimumAmount: '1000',
      maximumAmount: '5000',
    }),
    search: by({ search: 'voice 17' }),
    'search for nothing': by({ search: 'no such text anywhere' }),
    'search for a few letters': by({ search: 'zzz' }),
    awaitingMyApproval: by({ awaitingApprovalOf: idOf('user', 1) }),
    asset: by({ asset: 'T3' }),
    'unknown asset': by({ asset: 'NONE' }),
    tokenId: by({ tokenId: idOf('token', 3) }),
    network: by({ network: 'network-2' }),
    addressId: by({ addressId: idOf('address', 50) }),
    folderId: { ...by({}), folderId: idOf('folder', 1) },
    'large folderId': { ...by({}), folderId: idOf('folder', 2) },
    counterpartyId: by({ counterpartyId: idOf('counterparty', 7) }),
    counterpartyGroupId: by({ counterpartyGroupId: idOf('group', 1) }),
    'large counterpartyGroupId': by({ counterpartyGroupId: idOf('group', 2) }),
    counterpartyAddressId: by({ counterpartyAddressId: idOf('counterparty', 8) }),
    'flowType=internal': by({ flowType: 'internal' }),
    'flowType=external': by({ flowType: 'external' }),
    category: by({ category: 'category_1' }),
    'restricted category': by({ category: 'category_2' }),
    paymentPurpose: by({ paymentPurpose: 'Invoice 17' }),
    decisionPolicyId: by({ decisionPolicyId: idOf('policy', 2) }),
    includeShared: { ...by({}), includeShared: true },
    txHash: by({ txHash: '0x98f13708210194c475687be6106a3b84' }),
    from: by({ from: second(operations / 2) }),
    to: by({ to: second(operations / 3) }),
    'from and to': by({ from: second(operations / 3), to: second(operations / 2) }),
  }
}

/** Combines two queries. If both name the same filter, the value of the second query counts. */
export function combineQueries(query: FeedQuery, other: FeedQuery): FeedQuery {
  return { ...query, ...other, filters: { ...query.filters, ...setFilters(other.filters) } }
}

/** Filters that name rows of the vault, each with the values that may lead to different reads. */
const namingFilters = [
  ['asset'],
  ['tokenId'],
  ['network'],
  ['addressId'],
  ['folderId', 'large folderId'],
  ['counterpartyId'],
  ['counterpartyGroupId', 'large counterpartyGroupId'],
  ['category', 'restricted category'],
  ['includeShared'],
]
const plainFilters = [
  ['direction=in', 'direction=out'],
  ['status=awaiting_approval', 'status=confirmed'],
  ['awaitingMyApproval'],
  ['counterpartyAddressId'],
  ['flowType=internal', 'flowType=external'],
  ['paymentPurpose'],
  ['decisionPolicyId'],
  ['txHash'],
  ['from and to'],
]

export type FeedRead = { name: string; query: FeedQuery }

/**
 * Returns one query for each distinct read that the combinations of all filters cause. Many combinations walk the same ranges and
 * check the same conditions, so a few thousand queries represent all. Combinations that no row can match read nothing and are
 * only counted.
 */
export async function listFeedReads(
  db: Db,
  world: FeedWorld,
  scopeOf: (query: FeedQuery) => AddressScope,
): Promise<{ combinations: number; reads: FeedRead[] }> {
  const queries = feedQueries(world)
  const plain = combinationsOf(plainFilters).map((names) => ({ names, query: combineAll(queries, names) }))
  const reads = new Map<string, FeedRead>()
  let combinations = 0
  for (const names of combinationsOf(namingFilters)) {
    const naming = combineAll(queries, names)
    const scope = scopeOf(naming)
    const found = await lookUp(db, scope, naming.filters)
    for (const other of plain) {
      combinations += 1
      const { filters } = combineQueries(naming, other.query)
      const conditions = {
        ...found,
        ...setFilters(other.query.filters),
        awaitsVote: filters.awaitingApprovalOf !== null,
      }
      const path = chooseFeedPath(scope, conditions)
      const read = path === null ? null : readOf(path, other.names.includes('from and to'))
      if (read !== null && !reads.has(read)) {
        reads.set(read, { name: [...names, ...other.names].join(' + '), query: combineQueries(naming, other.query) })
      }
    }
  }
  return { combinations, reads: [...reads.values()] }
}

function readOf({ ranges, conditions }: FeedPath, isBounded: boolean): string {
  return JSON.stringify([ranges.map(({ feed, keys }) => [feed, keys.length]), conditions, isBounded])
}

/** Returns every combination with at most one value of each filter. */
function combinationsOf(filters: string[][]): string[][] {
  return filters.reduce<string[][]>(
    (combinations, values) => combinations.flatMap((names) => [names, ...values.map((value) => [...names, value])]),
    [[]],
  )
}

function combineAll(queries: Record<string, FeedQuery>, names: string[]): FeedQuery {
  return names.map((name) => queries[name]!).reduce(combineQueries, { filters: noFilters })
}

const setFilters = (filters: FeedFilters) =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== null))
