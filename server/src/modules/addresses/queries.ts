import { type Selectable, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { type AddressScope, isAddressInScope, isTransferAllowed } from '../../access/address-scope.ts'
import type { Db, Trx } from '../../db/client.ts'
import type { Addresses } from '../../db/types.ts'
import type { Position } from '../../lib/cursor.ts'
import { containsPattern } from '../../lib/like.ts'
import type { NetworkType } from '../../lib/onchain-address.ts'

export type AddressRow = Selectable<Addresses>
export type AddressBalanceRow = {
  token_id: string
  code: string
  symbol: string
  decimals: number
  available: string
  reserved: string
}
export type AddressWithBalances = AddressRow & {
  network_slug: string
  network_type: NetworkType
  token_code: string | null
  token_name: string | null
  token_symbol: string | null
  token_decimals: number | null
  owner_name: string | null
  owner_username: string | null
  owner_image: string | null
  owner_color: string | null
  owner_emoji: string | null
  /** Whoever asked may move what is on it. */
  can_transfer: boolean
  balances: AddressBalanceRow[]
}

type Filter = { token?: string; search?: string }

/** Addresses within the scope, newest first, one row more than the limit. */
export async function listAddresses(
  db: Db | Trx,
  scope: AddressScope,
  filter: Filter,
  { after, limit }: { after: Position | null; limit: number },
): Promise<AddressWithBalances[]> {
  let query = selectAddresses(db, scope)
  if (filter.token !== undefined) query = query.where('tokens.code', '=', filter.token)
  if (filter.search !== undefined) {
    const pattern = containsPattern(filter.search)
    query = query.where((where) =>
      where.or([where('addresses.address', 'ilike', pattern), where('addresses.label', 'ilike', pattern)]),
    )
  }
  if (after !== null) {
    query = query.where(sql<boolean>`(addresses.created_at, addresses.id) < (${after.createdAt}, ${after.id})`)
  }
  return (await query
    .orderBy('addresses.created_at', 'desc')
    .orderBy('addresses.id', 'desc')
    .limit(limit + 1)
    .execute()) as AddressWithBalances[]
}

/** null when there is none within the scope. */
export async function findAddress(db: Db | Trx, scope: AddressScope, id: string): Promise<AddressWithBalances | null> {
  const row = await selectAddresses(db, scope).where('addresses.id', '=', id).executeTakeFirst()
  return (row as AddressWithBalances | undefined) ?? null
}

/** The lowest free index under the prefix; addresses are never deleted, so it is the highest plus one. */
export async function findNextIndex(db: Db | Trx, vaultId: string, staticPrefix: string): Promise<number> {
  const { last } = await db
    .selectFrom('addresses')
    .select(({ fn }) => fn.max('path_index').as('last'))
    .where('vault_id', '=', vaultId)
    .where('static_prefix', '=', staticPrefix)
    .executeTakeFirstOrThrow()
  return last === null ? 0 : Number(last) + 1
}

/**
 * Makes the creation of an on-chain address and the storing of events for it wait for each other until the end of the
 * transaction: an event that finds no address is stored before the address looks for such events, or sees it.
 */
export async function lockOnchainAddress(trx: Trx, networkId: string, addressKey: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${networkId} ${addressKey}`}, 1))`.execute(trx)
}

function selectAddresses(db: Db | Trx, scope: AddressScope) {
  return db
    .selectFrom('addresses')
    .innerJoin('networks', 'networks.id', 'addresses.network_id')
    .innerJoin('users', 'users.id', 'addresses.owner_id')
    .leftJoin('tokens', 'tokens.id', 'addresses.token_id')
    .selectAll('addresses')
    .select([
      'networks.slug as network_slug',
      'networks.type as network_type',
      'tokens.code as token_code',
      'tokens.name as token_name',
      'tokens.symbol as token_symbol',
      'tokens.decimals as token_decimals',
      'users.name as owner_name',
      'users.username as owner_username',
      'users.image as owner_image',
      'users.color as owner_color',
      'users.emoji as owner_emoji',
    ])
    .select((select) =>
      jsonArrayFrom(
        select
          .selectFrom('ledger_accounts as account')
          .innerJoin('tokens as held', 'held.id', 'account.token_id')
          .select([
            'account.token_id',
            'held.code',
            'held.symbol',
            'held.decimals',
            // As text: a JSON number would lose digits.
            sql<string>`coalesce(sum(account.balance) filter (where account.purpose = 'available'), 0)::text`.as(
              'available',
            ),
            sql<string>`coalesce(sum(account.balance) filter (where account.purpose = 'reserved'), 0)::text`.as(
              'reserved',
            ),
          ])
          .whereRef('account.vault_id', '=', 'addresses.vault_id')
          .whereRef('account.address_id', '=', 'addresses.id')
          .groupBy(['account.token_id', 'held.code', 'held.symbol', 'held.decimals'])
          .orderBy('held.code')
          .orderBy('account.token_id'),
      ).as('balances'),
    )
    .select(isTransferAllowed(scope, 'addresses').as('can_transfer'))
    .where(isAddressInScope(scope, 'addresses'))
}
