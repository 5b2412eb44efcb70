import { type Selectable, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { type AddressScope, addressParts, isAddressInScope, isTransferAllowed } from '../../../access/address-scope.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import type { Addresses } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { containsPattern } from '../../../lib/like.ts'
import type { NetworkType } from '../../../lib/onchain-address.ts'

export type AddressRow = Selectable<Addresses>
export type AddressBalanceRow = {
  token_id: string
  code: string
  symbol: string
  decimals: number
  available: string
  reserved: string
  exposure: string
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
  /** True if the viewer may transfer from the address. */
  can_transfer: boolean
  balances: AddressBalanceRow[]
}

type Filter = { token?: string; search?: string }

/**
 * Returns the addresses within the scope, newest first, one row more than the limit. It finds the page first and then
 * its details.
 */
export async function listAddresses(
  db: Db | Trx,
  scope: AddressScope,
  filter: Filter,
  { after, limit }: Paging,
): Promise<AddressWithBalances[]> {
  const order = sql`order by created_at desc, id desc limit ${limit + 1}`
  const filters = [
    ...(filter.token === undefined ? [] : [sql`a.token_id in (select id from tokens where code = ${filter.token})`]),
    ...(filter.search === undefined ? [] : [isFoundBy(filter.search)]),
    ...(after === null ? [] : [sql`(a.created_at, a.id) < (${after.createdAt}, ${after.id})`]),
  ]
  const parts = addressParts(scope, 'a').map(
    (part) =>
      sql`(select a.id, a.created_at from addresses a where ${sql.join([part, ...filters], sql` and `)} ${order})`,
  )
  const page = sql<{ id: string }>`(select id from (${sql.join(parts, sql` union all `)}) parts ${order})`.as('page')
  return (await selectAddresses(db, scope)
    .innerJoin(page, (join) => join.onRef('page.id', '=', 'addresses.id').on('addresses.vault_id', '=', scope.vaultId))
    .orderBy('addresses.created_at', 'desc')
    .orderBy('addresses.id', 'desc')
    .execute()) as AddressWithBalances[]
}

/** Returns null when no such address is within the scope. */
export async function findAddress(db: Db | Trx, scope: AddressScope, id: string): Promise<AddressWithBalances | null> {
  const row = await selectAddresses(db, scope)
    .where('addresses.id', '=', id)
    .where(isAddressInScope(scope, 'addresses'))
    .executeTakeFirst()
  return (row as AddressWithBalances | undefined) ?? null
}

/** The facts of an address for a new decision on an operation that waited. */
type AddressPermissions = { canTransfer: boolean; folderIds: string[] }

/**
 * Returns the present permissions: whether the viewer may transfer from the address, and its folders, including folders that
 * they cannot see.
 */
export async function findPermissions(db: Db | Trx, scope: AddressScope, id: string): Promise<AddressPermissions> {
  const { rows } = await sql<AddressPermissions>`${prepared}
    select ${isTransferAllowed(scope, 'a')} as "canTransfer",
      array(select m.group_id from address_group_members m
        where m.vault_id = a.vault_id and m.address_id = a.id order by m.group_id) as "folderIds"
    from addresses a where a.vault_id = ${scope.vaultId} and a.id = ${id}`.execute(db)
  return rows[0]!
}

/**
 * Returns the lowest index under the prefix from which on all indexes are free. Addresses are never deleted, so it is one above the
 * highest used or burnt index. In a prefix with indexes it is also not below the floors of the vault.
 */
export async function findNextIndex(
  db: Db | Trx,
  vaultId: string,
  { staticPrefix, hasIndex }: { staticPrefix: string; hasIndex: boolean },
): Promise<number> {
  const { rows } = await sql<{ next: number }>`${prepared}
    select greatest(
      (select max(path_index) from addresses where vault_id = ${vaultId} and static_prefix = ${staticPrefix}),
      (select max(path_index) from asked_paths where vault_id = ${vaultId} and static_prefix = ${staticPrefix} and is_burnt),
      (select max(f) - 1 from wallet_marks m, unnest(m.index_floors) f where m.vault_id = ${vaultId} and ${hasIndex}), -1
    )::float8 + 1 as next`.execute(db)
  return rows[0]!.next
}

/**
 * Serialises the creation of an on-chain address and the storing of events for it until the end of the transaction. An
 * event either finds the address or is stored before the address looks for waiting events.
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
            // The sum is text, because a JSON number would lose digits.
            sql<string>`coalesce(sum(account.balance) filter (where account.purpose = 'available'), 0)::text`.as(
              'available',
            ),
            sql<string>`coalesce(sum(account.balance) filter (where account.purpose = 'reserved'), 0)::text`.as(
              'reserved',
            ),
            sql<string>`sum(account.exposure)::text`.as('exposure'),
          ])
          .whereRef('account.vault_id', '=', 'addresses.vault_id')
          .whereRef('account.address_id', '=', 'addresses.id')
          .groupBy(['account.token_id', 'held.code', 'held.symbol', 'held.decimals'])
          .orderBy('held.code')
          .orderBy('account.token_id'),
      ).as('balances'),
    )
    .select(isTransferAllowed(scope, 'addresses').as('can_transfer'))
}

function isFoundBy(search: string) {
  const pattern = containsPattern(search)
  return sql`(a.address ilike ${pattern} or a.label ilike ${pattern})`
}
