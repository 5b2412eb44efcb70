import { type RawBuilder, sql } from 'kysely'
import {
  type AddressScope,
  folderAddressIds,
  isAddressInScope,
  sharedAddressIds,
} from '../../../access/address-scope.ts'
import { type Db, prepared } from '../../../db/client.ts'
import { feedMergedRangesMax } from '../../../lib/limits.ts'
import type { FeedFilters, FeedLimits } from './feed.ts'
import type { ResolvedFilters } from './feed-path.ts'

/** The ids behind codes, slugs, groups and folders, in one round trip if there are any to find. */
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
    // Enough ids to decide whether to merge them; beyond that limit the gathering finds all of them by itself.
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
