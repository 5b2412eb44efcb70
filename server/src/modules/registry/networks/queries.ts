import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { Networks, Tokens } from '../../../db/types.ts'
import type { Position } from '../../../lib/cursor.ts'
import { containsPattern } from '../../../lib/like.ts'
import { type NetworkType, parseOnchainAddress } from '../../../lib/onchain-address.ts'

export type NetworkRow = Omit<Selectable<Networks>, 'type'> & { type: NetworkType }
/** A token with what its network says about it. */
export type TokenRow = Selectable<Tokens> & { network_slug: string; network_type: NetworkType }

type Paging = { after: Position | null; limit: number }

/**
 * The key of lib/onchain-address.ts that `text` has on the network which the row `alias` is: for text that comes before
 * its network is known. Text that is no address there becomes a key that no address has.
 */
export function addressKeyOn(alias: string, text: string | null): RawBuilder<string | null> {
  return addressKeyIn(alias, sql`${text}::text`, sql`${bitcoinKeyOf(text)}::text`)
}

/** As `addressKeyOn`, for SQL that holds the text and what `bitcoinKeyOf` makes of it. */
export function addressKeyIn(
  alias: string,
  text: RawBuilder<unknown>,
  onBitcoin: RawBuilder<unknown>,
): RawBuilder<string | null> {
  return sql`case ${sql.ref(`${alias}.type`)} when 'evm' then lower(${text}) when 'bitcoin' then ${onBitcoin} else ${text} end`
}

/** The key of a Bitcoin address, which SQL cannot tell; other text stays as it is. */
export function bitcoinKeyOf(text: string | null): string | null {
  return text === null ? null : (parseOnchainAddress(text, 'bitcoin')?.key ?? text)
}

/** Networks, newest first, one row more than the limit. */
export async function listNetworks(db: Db | Trx, { after, limit }: Paging): Promise<NetworkRow[]> {
  let query = db.selectFrom('networks').selectAll()
  if (after !== null) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`)
  return (await query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()) as NetworkRow[]
}

export async function findNetworkById(db: Db | Trx, id: string): Promise<NetworkRow | null> {
  const row = await db.selectFrom('networks').selectAll().where('id', '=', id).executeTakeFirst()
  return (row as NetworkRow | undefined) ?? null
}

export async function findNetworkBySlug(db: Db | Trx, slug: string): Promise<NetworkRow | null> {
  const row = await db.selectFrom('networks').selectAll().where('slug', '=', slug).executeTakeFirst()
  return (row as NetworkRow | undefined) ?? null
}

export async function findNetworkByCoinType(db: Db | Trx, coinType: number): Promise<NetworkRow | null> {
  const row = await db.selectFrom('networks').selectAll().where('coin_type', '=', coinType).executeTakeFirst()
  return (row as NetworkRow | undefined) ?? null
}

/** The networks that are connected to the vaults, in the order of each vault. */
export async function findNetworksOfVaults(
  db: Db | Trx,
  vaultIds: string[],
): Promise<(NetworkRow & { vault_id: string })[]> {
  if (vaultIds.length === 0) return []
  const rows = await db
    .selectFrom('vault_networks')
    .innerJoin('networks', 'networks.id', 'vault_networks.network_id')
    .selectAll('networks')
    .select('vault_networks.vault_id')
    .where('vault_networks.vault_id', 'in', vaultIds)
    .orderBy('vault_networks.position')
    .execute()
  return rows as (NetworkRow & { vault_id: string })[]
}

/** Tokens, newest first, one row more than the limit. */
export async function listTokens(
  db: Db | Trx,
  filter: { network?: string; enabled?: boolean; search?: string },
  { after, limit }: Paging,
): Promise<TokenRow[]> {
  let query = selectTokens(db)
  if (filter.network !== undefined) query = query.where('networks.slug', '=', filter.network)
  if (filter.enabled !== undefined) query = query.where('tokens.enabled', '=', filter.enabled)
  if (filter.search !== undefined) {
    const pattern = containsPattern(filter.search)
    query = query.where((where) =>
      where.or([
        where('tokens.code', 'ilike', pattern),
        where('tokens.symbol', 'ilike', pattern),
        where('tokens.name', 'ilike', pattern),
      ]),
    )
  }
  if (after !== null) {
    query = query.where(sql<boolean>`(tokens.created_at, tokens.id) < (${after.createdAt}, ${after.id})`)
  }
  return (await query
    .orderBy('tokens.created_at', 'desc')
    .orderBy('tokens.id', 'desc')
    .limit(limit + 1)
    .execute()) as TokenRow[]
}

export async function findToken(db: Db | Trx, id: string): Promise<TokenRow | null> {
  const row = await selectTokens(db).where('tokens.id', '=', id).executeTakeFirst()
  return (row as TokenRow | undefined) ?? null
}

/** As `findToken`, and nobody else changes the token until the transaction ends. */
export async function lockToken(trx: Trx, id: string): Promise<TokenRow | null> {
  const row = await selectTokens(trx).where('tokens.id', '=', id).forNoKeyUpdate('tokens').executeTakeFirst()
  return (row as TokenRow | undefined) ?? null
}

/** All tokens of the networks, ordered by code. */
export async function findTokensOfNetworks(db: Db | Trx, networkIds: string[]): Promise<TokenRow[]> {
  if (networkIds.length === 0) return []
  return (await selectTokens(db)
    .where('tokens.network_id', 'in', networkIds)
    .orderBy('tokens.code')
    .execute()) as TokenRow[]
}

function selectTokens(db: Db | Trx) {
  return db
    .selectFrom('tokens')
    .innerJoin('networks', 'networks.id', 'tokens.network_id')
    .selectAll('tokens')
    .select(['networks.slug as network_slug', 'networks.type as network_type'])
}

/**
 * The vaults that a token matters to: it stands in their books, or is the token of one of their variants or addresses.
 * Scans the addresses of all vaults; this is acceptable because token changes are rare.
 */
export async function listVaultIdsUsingToken(db: Db | Trx, tokenId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select v.id from vaults v
    where exists (select from ledger_accounts a where a.vault_id = v.id and a.address_id = '' and a.token_id = ${tokenId})
      or v.id in (select vault_id from variants where token_id = ${tokenId})
      or exists (select from addresses a where a.token_id = ${tokenId} and a.vault_id = v.id)
    order by v.id`.execute(db)
  return rows.map((row) => row.id)
}

/** SQL: whether an amount of a deposit is below the dust limit of its token, where the token has one. */
export function isDust(amount: string, token: string): RawBuilder<boolean> {
  return sql<boolean>`coalesce(${sql.ref(amount)} < ${sql.ref(`${token}.dust_limit`)}, false)`
}
