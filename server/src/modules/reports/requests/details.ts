import { type RawBuilder, sql } from 'kysely'
import { isFolderVisible, isOperationInScope } from '../../../access/address-scope.ts'
import type { Trx } from '../../../db/client.ts'
import { type Classification, isReported, type OperationFilter, pastMemberships } from './operation-filter.ts'
import type { Profile } from './schema.ts'

/** Reads the names behind the ids of a report: assets, counterparties, addresses and people. */

export type Asset = {
  tokenId: string
  assetCode: string
  assetSymbol: string
  network: string
  contractAddress: string | null
  decimals: number
  /** The coin of the network, which pays its fees; null if the registry has none. */
  coinId: string | null
}

export type CounterpartyDetails = { name: string; kind: string }

export type AddressDetails = {
  address: string
  label: string | null
  derivationPath: string
  segments: Record<string, unknown>
  folderSnapshots: { id: string; name: string }[]
}

/** SQL: the tokens, and the coins of their networks. */
const assetsOf = (ids: readonly string[]) => sql`
  with named as materialized (select id, network_id from tokens where id = any(${ids}::text[]))
  select t.id as "tokenId", t.code as "assetCode", t.symbol as "assetSymbol", n.slug as network,
    t.contract_address as "contractAddress", t.decimals, coin.id as "coinId"
  from tokens t join networks n on n.id = t.network_id
  left join tokens coin on coin.network_id = t.network_id and coin.contract_key = ''
  where t.id in (select id from named) or (t.contract_key = '' and t.network_id in (select network_id from named))`

const byTokenId = (rows: readonly Asset[]) => new Map(rows.map((asset) => [asset.tokenId, asset]))

/** Returns a function that finds the coin of the network of a token among assets; null if the registry has none. */
export const coinIn =
  (assets: ReadonlyMap<string, Asset>) =>
  (tokenId: string): Asset | null =>
    assets.get(assets.get(tokenId)?.coinId ?? '') ?? null

export async function findAssets(trx: Trx, ids: readonly string[]): Promise<Map<string, Asset>> {
  const { rows } = await sql<Asset>`${assetsOf(ids)}`.execute(trx)
  return byTokenId(rows)
}

/** The counterparty of an operation in the rows of a list. */
export type PartyColumns = { partyId: string | null; partyName: string | null }

export const toParty = ({ partyId: id, partyName: name }: PartyColumns) =>
  id === null ? null : { id, name: name ?? '' }

/**
 * SQL: joins the counterparty of the operation `o` as a row (id, name): as recorded with the operation, or as the address
 * book names it now. For lists; `laterMatches` finds the same for sums.
 */
export function joinCounterparty(classification: Classification, alias: string): RawBuilder<unknown> {
  if (classification === 'historical') {
    return sql`left join lateral (select o.counterparty_id as id, o.counterparty_name as name) ${sql.ref(alias)} on true`
  }
  // The joined entry is the recorded entry, or an entry for the same address that was made after the operation. `offset 0` nests
  // the lookups. Otherwise PostgreSQL may expect a short address book, and read all of it for every entry.
  const nameOf = sql`cross join lateral (select c.id, c.name from counterparties c
    where c.vault_id = o.vault_id and c.id = entry.counterparty_id offset 0) c`
  return sql`left join lateral (
    select c.id, c.name from (
      select s.counterparty_id, 2 as position from counterparty_addresses s
      where s.vault_id = o.vault_id and s.id = o.counterparty_address_id
      union all
      select s.counterparty_id, 1 from transfers t
      cross join lateral (select * from counterparty_addresses s where s.vault_id = t.vault_id and s.network_id = o.network_id
        and s.address_key = t.to_address_key offset 0) s
      where t.vault_id = o.vault_id and t.id = o.id and t.created_at <= s.created_at and o.flow_type = 'external'
      union all
      select s.counterparty_id, 1 from deposits d
      join networks n on n.id = o.network_id
      cross join lateral (select * from counterparty_addresses s where s.vault_id = d.vault_id and s.network_id = o.network_id
        and s.address_key in (d.from_address, lower(d.from_address)) offset 0) s
      where d.vault_id = o.vault_id and d.id = o.id and d.created_at <= s.created_at and o.flow_type = 'external'
        and (n.type = 'evm' or s.address = d.from_address)
    ) entry
    ${nameOf}
    order by entry.position limit 1
  ) ${sql.ref(alias)} on true`
}

/**
 * SQL: names and types of counterparties: the current values, or the values recorded with the last operation of the scope
 * before the end of the interval.
 */
const counterpartiesOf = (
  { scope, counterpartyClassification, interval }: OperationFilter,
  ids: readonly string[],
): RawBuilder<unknown> =>
  counterpartyClassification === 'current'
    ? sql`select id, name, kind from counterparties where vault_id = ${scope.vaultId} and id = any(${ids}::text[])`
    : sql`
      select wanted.id, then_called.name, then_called.kind
      from unnest(${ids}::text[]) wanted(id) cross join lateral (
        select o.counterparty_name as name, o.counterparty_kind as kind from operations o
        where o.vault_id = ${scope.vaultId} and o.counterparty_id = wanted.id and o.created_at < ${interval.to}
          and ${isOperationInScope(scope, 'o')}
        order by o.created_at desc, o.id desc limit 1) then_called`

/** SQL: addresses with the folders that they are in, or were in when an operation of the report was created. */
function addressesOf(filter: OperationFilter, ids: readonly string[]): RawBuilder<unknown> {
  const { scope } = filter
  const folders =
    filter.folderClassification === 'current'
      ? sql`select m.address_id, f.id, f.name from address_group_members m
          join address_groups f on f.vault_id = m.vault_id and f.id = m.group_id
          where m.vault_id = ${scope.vaultId} and m.address_id = any(${ids}::text[]) and ${isFolderVisible(scope, 'f')}`
      : sql`select distinct l.address_id, l.group_id as id, coalesce(f.name, l.group_name) as name ${pastMemberships(scope)}
          and l.address_id = any(${ids}::text[])
          and exists (select from operations o where ${isReported(filter)} and o.address_id = l.address_id
            and o.created_at >= l.added_at and (l.removed_at is null or o.created_at < l.removed_at))`
  return sql`
    with folders as (${folders}), snapshots as (
      select address_id, json_agg(json_build_object('id', id, 'name', name) order by name, id) as list
      from folders group by address_id
    )
    select a.id, a.address, a.label, a.derivation_path as "derivationPath", a.segments, a.owner_id as "ownerId",
      coalesce(snapshots.list, '[]') as "folderSnapshots"
    from addresses a left join snapshots on snapshots.address_id = a.id
    where a.vault_id = ${scope.vaultId} and a.id = any(${ids}::text[])`
}

export type Details = {
  assets: Map<string, Asset>
  counterparties: Map<string, CounterpartyDetails>
  addresses: Map<string, AddressDetails & { ownerId: string }>
}

/** Returns names and profiles for the ids of a report of activity, in one statement. */
export async function findDetails(
  trx: Trx,
  filter: OperationFilter,
  ids: { assets: readonly string[]; counterparties: readonly string[]; addresses: readonly string[] },
): Promise<Details> {
  const list = (rows: RawBuilder<unknown>) => sql`(select coalesce(json_agg(r), '[]') from (${rows}) r)`
  const { rows } = await sql<{
    assets: Asset[]
    counterparties: (CounterpartyDetails & { id: string })[]
    addresses: (AddressDetails & { id: string; ownerId: string })[]
  }>`
    select ${list(assetsOf(ids.assets))} as assets, ${list(counterpartiesOf(filter, ids.counterparties))} as counterparties,
      ${list(addressesOf(filter, ids.addresses))} as addresses`.execute(trx)
  const found = rows[0]!
  return {
    assets: byTokenId(found.assets),
    counterparties: new Map(found.counterparties.map(({ id, name, kind }) => [id, { name, kind }])),
    addresses: new Map(found.addresses.map(({ id, ...details }) => [id, details])),
  }
}

export async function findProfiles(trx: Trx, ids: readonly string[]): Promise<Map<string, Profile>> {
  const { rows } = await sql<Profile>`
    select id, name, username, image, color, emoji from users where id = any(${ids}::text[])`.execute(trx)
  return new Map(rows.map((owner) => [owner.id, owner]))
}
