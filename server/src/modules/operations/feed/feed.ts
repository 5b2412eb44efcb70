import { type RawBuilder, sql } from 'kysely'
import {
  type AddressScope,
  folderAddressIds,
  isAddressInScope,
  sharedAddressIds,
} from '../../../access/address-scope.ts'
import { type Db, prepared } from '../../../db/client.ts'
import { readInIndexOrder } from '../../../db/index-order.ts'
import { cursorTag, type Paging, type Position } from '../../../lib/cursor.ts'
import {
  feedGatheredRows,
  feedGatheringsMax,
  feedMergedRangesMax,
  feedScannedRows,
  feedWindowRows,
} from '../../../lib/limits.ts'
import type { FeedFilters, FeedLimits } from './feed-filters.ts'
import { chooseFeedPath, type ResolvedFilters } from './feed-path.ts'
import { walkPath } from './feed-walk.ts'

/**
 * `next` is the position at which to continue. A page may be short or empty and still have a `next`
 * (docs/decisions/0014-feeds.md).
 */
export type FeedRows<Row> = { rows: Row[]; next: Position | null }

/** The limits of every request. Only tests use other values. */
const feedLimits: FeedLimits = {
  windowRows: feedWindowRows,
  mergedRangesMax: feedMergedRangesMax,
  gatheredRows: feedGatheredRows,
  gatheringsMax: feedGatheringsMax,
  scannedRows: feedScannedRows,
}

/**
 * Reads one page of the operations in scope that match the filters, newest first by (created_at, id), from one snapshot.
 * `describe` reads the rows of these ids, in any order. A request reads a limited number of rows of the feed.
 */
export async function readFeed<Row extends { id: string }>(
  db: Db,
  scope: AddressScope,
  filters: FeedFilters,
  page: Paging,
  describe: (db: Db, ids: string[]) => Promise<Row[]>,
  limits: FeedLimits = feedLimits,
): Promise<FeedRows<Row>> {
  // Only the most frequent queries have few enough texts to be worth prepared statements.
  const isPlain = scope.folderId === null && Object.values(filters).every((filter) => filter === null)
  return readInIndexOrder(db, { plansOnce: isPlain }, async (snapshot) => {
    const resolved = await lookUp(snapshot, scope, filters, limits)
    const path = chooseFeedPath(scope, resolved)
    if (path === null) return { rows: [], next: null }
    const { ids, next } = await walkPath(snapshot, { scope, filters, resolved, path, limits }, page)
    const rows = ids.length === 0 ? [] : await describe(snapshot, ids)
    return { rows: rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)), next }
  })
}

/** Returns a tag of all filters that decide the content of a list. A cursor with another tag is refused. */
export function feedTag(list: string, scope: AddressScope, filters: FeedFilters): string {
  const { vaultId, isWholeVault, ownerId, includesShared, folderId } = scope
  return cursorTag({ ...filters, list, vaultId, isWholeVault, ownerId, includesShared, folderId })
}

/** Resolves codes, slugs, groups and folders to ids, in at most one round trip. */
export async function lookUp(
  db: Db,
  scope: AddressScope,
  filters: FeedFilters,
  limits: Pick<FeedLimits, 'mergedRangesMax'> = { mergedRangesMax: feedMergedRangesMax },
): Promise<ResolvedFilters> {
  const found = await readLookups(db, lookupsOf(scope, filters, limits))
  const single = (id: string | null) => (id === null ? null : [id])
  return {
    ...filters,
    tokenIds: found.tokens ?? single(filters.tokenId),
    addressIds: found.named ?? single(filters.addressId),
    visibleAddressIds: found.visible ?? [],
    awaitsVote: filters.awaitingApprovalOf !== null,
    counterpartyIds: found.counterparties ?? single(filters.counterpartyId),
    categoryIds: found.categories ?? null,
  }
}

type Lookups<Of> = { [name in 'tokens' | 'named' | 'visible' | 'counterparties' | 'categories']?: Of }

async function readLookups(db: Db, lookups: Lookups<RawBuilder<unknown>>): Promise<Lookups<string[]>> {
  const arrays = Object.entries(lookups).map(([name, ids]) => sql`array(${ids}) as ${sql.id(name)}`)
  if (arrays.length === 0) return {}
  // Shared addresses are looked up for every page, so the text of the query is always the same.
  const mark = Object.keys(lookups).join() === 'visible' ? prepared : sql``
  const { rows } = await sql<Lookups<string[]>>`${mark} select ${sql.join(arrays)}`.execute(db)
  return rows[0]!
}

function lookupsOf(
  scope: AddressScope,
  filters: FeedFilters,
  { mergedRangesMax }: Pick<FeedLimits, 'mergedRangesMax'>,
): Lookups<RawBuilder<unknown>> {
  const { asset, network, tokenId, addressId, counterpartyId, counterpartyGroupId, category } = filters
  const only = (column: string, value: string | null) =>
    value === null ? sql`` : sql`and ${sql.ref(column)} = ${value}`
  const isNamed = addressId !== null || scope.folderId !== null
  const isOwnPath = !scope.isWholeVault && filters.awaitingApprovalOf === null && filters.txHash === null
  return {
    ...((asset !== null || network !== null) && {
      tokens: sql`select t.id from tokens t join networks n on n.id = t.network_id
        where true ${only('t.id', tokenId)} ${only('t.code', asset)} ${only('n.slug', network)}`,
    }),
    ...(scope.folderId !== null && {
      named: sql`select f.address_id from (${folderAddressIds(scope)}) f where true ${only('f.address_id', addressId)}`,
    }),
    ...(isOwnPath &&
      isNamed && {
        visible: sql`select a.id from addresses a where ${isAddressInScope(scope, 'a')} ${only('a.id', addressId)}`,
      }),
    // Finds enough ids to decide whether they are merged. Beyond that limit the gathering finds all ids by itself.
    ...(isOwnPath &&
      !isNamed &&
      scope.includesShared && {
        // With such a small limit the planner would walk all grants of the vault in their order; the fence prevents that.
        visible: sql`with s as materialized (${sharedAddressIds(scope)})
          select s.address_id from s limit ${mergedRangesMax + 1}`,
      }),
    ...(counterpartyGroupId !== null && {
      counterparties: sql`select g.counterparty_id from counterparty_group_memberships g
        where g.vault_id = ${scope.vaultId} and g.group_id = ${counterpartyGroupId} ${only('g.counterparty_id', counterpartyId)}`,
    }),
    ...(category !== null && {
      categories: sql`select c.id from operation_categories c where c.vault_id = ${scope.vaultId} and c.key = ${category}`,
    }),
  }
}
