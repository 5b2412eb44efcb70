import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { Tokens } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { containsPattern } from '../../../lib/like.ts'
import type { NetworkType } from '../../../lib/onchain-address.ts'

/** A token with the columns of its network. */
export type TokenRow = Selectable<Tokens> & { network_slug: string; network_type: NetworkType }

/** Returns tokens, newest first, one row more than the limit. */
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

/** Returns a token as `findToken` does, and locks it until the transaction ends. */
export async function lockToken(trx: Trx, id: string): Promise<TokenRow | null> {
  const row = await selectTokens(trx).where('tokens.id', '=', id).forNoKeyUpdate('tokens').executeTakeFirst()
  return (row as TokenRow | undefined) ?? null
}

/** Returns the tokens of these codes on all networks. */
export async function listTokensOfCodes(db: Db | Trx, codes: string[]): Promise<{ id: string; code: string }[]> {
  return db.selectFrom('tokens').select(['id', 'code']).where('code', 'in', codes).execute()
}

/** Returns all tokens of the networks, ordered by code. */
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
 * Returns the vaults that use a token: in their ledger, or as the token of one of their variants or addresses. It scans
 * the addresses of all vaults, which is acceptable because token changes are rare.
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

/** SQL condition: the amount of a deposit is below the dust limit of its token. It is false for a token without a limit. */
export function isDust(amount: string, token: string): RawBuilder<boolean> {
  return sql<boolean>`coalesce(${sql.ref(amount)} < ${sql.ref(`${token}.dust_limit`)}, false)`
}

/** Returns the coin in which fees are paid on a network; null when it is not registered. */
export async function findNativeCoin(
  db: Db | Trx,
  networkId: string,
): Promise<{ id: string; code: string; decimals: number } | null> {
  const { rows } = await sql<{ id: string; code: string; decimals: number }>`
    select id, code, decimals from tokens where network_id = ${networkId} and contract_key = ''`.execute(db)
  return rows[0] ?? null
}
