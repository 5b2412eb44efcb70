import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { Networks } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { type NetworkType, parseOnchainAddress } from '../../../lib/onchain-address.ts'
import { litecoinCoinType } from './coin-types.ts'

export type NetworkRow = Omit<Selectable<Networks>, 'type'> & { type: NetworkType }

/** `derived`: new addresses of the vault on the network must follow from a pinned key. */
export const addressChecks = ['none', 'derived'] as const
export type AddressCheck = (typeof addressChecks)[number]
export type NetworkOfVault = NetworkRow & { vault_id: string; address_check: AddressCheck }

/**
 * SQL: returns the key (lib/onchain-address.ts) of an address in the notation `text` on the network of the row `alias`. It serves
 * where the network is known only within the query. Text that is not an address of the network gets a key that no address has.
 */
export function addressKeyOn(alias: string, text: string | null): RawBuilder<string | null> {
  return addressKeyIn(alias, sql`${text}::text`, sql`${bech32KeyOf(text)}::text`)
}

/** SQL: as `addressKeyOn`, for text that is SQL; `asBech32` is the result of `bech32KeyOf` in SQL. */
export function addressKeyIn(
  alias: string,
  text: RawBuilder<unknown>,
  asBech32: RawBuilder<unknown>,
): RawBuilder<string | null> {
  return sql`case ${sql.ref(`${alias}.type`)} when 'evm' then lower(${text})
    when 'bitcoin' then ${asBech32} when 'litecoin' then ${asBech32} else ${text} end`
}

/** Returns the key of an address of Bitcoin or Litecoin, which SQL cannot compute. Other text stays unchanged. */
export function bech32KeyOf(text: string | null): string | null {
  if (text === null) return null
  return (parseOnchainAddress(text, 'bitcoin') ?? parseOnchainAddress(text, 'litecoin'))?.key ?? text
}

/** Returns networks, newest first, one row more than the limit. */
export async function listNetworks(db: Db | Trx, { after, limit }: Paging): Promise<NetworkRow[]> {
  let query = db.selectFrom('networks').selectAll()
  if (after !== null) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`)
  return (await query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()) as NetworkRow[]
}

/**
 * Returns the slugs of Litecoin networks that were connected before the service knew Litecoin addresses, and that have addresses of
 * another form. Migration 0110 did not change them.
 */
export async function listUncheckedNetworks(db: Db): Promise<string[]> {
  const { rows } = await sql<{ slug: string }>`
    select slug from networks where coin_type = ${litecoinCoinType} and type <> 'litecoin'`.execute(db)
  return rows.map(({ slug }) => slug)
}

type NetworkKey = { id: string } | { slug: string } | { coin_type: number }

export async function findNetwork(db: Db | Trx, key: NetworkKey): Promise<NetworkRow | null> {
  const [[column, value]] = Object.entries(key) as [['id', string]]
  const row = await db.selectFrom('networks').selectAll().where(column, '=', value).executeTakeFirst()
  return (row as NetworkRow | undefined) ?? null
}

/** Locks the network until the transaction ends. */
export async function lockNetwork(trx: Trx, id: string): Promise<NetworkRow | null> {
  const row = await trx.selectFrom('networks').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
  return (row as NetworkRow | undefined) ?? null
}

/** Returns the networks that are connected to the vaults, in the order of each vault. */
export async function findNetworksOfVaults(db: Db | Trx, vaultIds: string[]): Promise<NetworkOfVault[]> {
  if (vaultIds.length === 0) return []
  const rows = await db
    .selectFrom('vault_networks')
    .innerJoin('networks', 'networks.id', 'vault_networks.network_id')
    .selectAll('networks')
    .select(['vault_networks.vault_id', 'vault_networks.address_check'])
    .where('vault_networks.vault_id', 'in', vaultIds)
    .orderBy('vault_networks.position')
    .execute()
  return rows as NetworkOfVault[]
}

/** Returns the vaults that are connected to a network. */
export async function listVaultIdsOnNetwork(db: Db | Trx, networkId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('vault_networks')
    .select('vault_id')
    .where('network_id', '=', networkId)
    .orderBy('vault_id')
    .execute()
  return rows.map((row) => row.vault_id)
}
