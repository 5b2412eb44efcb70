import type pg from 'pg'

export type FeedWorldSize = { members: number; addresses: number; operations: number; shared: number }
/** The size of a feed world and its ids. An id is made of a letter and a number, which counts from 1. */
export type FeedWorld = FeedWorldSize & { vaultId: string; idOf(kind: FeedKind, n: number): string }
type FeedKind =
  | 'user'
  | 'address'
  | 'token'
  | 'network'
  | 'counterparty'
  | 'group'
  | 'folder'
  | 'category'
  | 'policy'
  | 'operation'

const letters: Record<FeedKind, string> = {
  user: 'u',
  address: 'a',
  token: 't',
  network: 'n',
  counterparty: 'p',
  group: 'g',
  folder: 'f',
  category: 'k',
  policy: 'y',
  operation: 'o',
}
const idOf = (kind: FeedKind, n: number) => `c${letters[kind]}${String(n).padStart(23, '0')}`
const vaultId = `cv${'0'.repeat(23)}`
const id = (kind: FeedKind, n: string) => `'c${letters[kind]}' || lpad((${n})::text, 23, '0')`

const feedTokens = 20
const feedNetworks = 4
const feedCounterparties = 2_000
const feedCategories = 9
const feedPolicies = 20

/**
 * Fills an empty, migrated database with one vault, by SQL: hundreds of thousands of rows in seconds. All values are spread
 * evenly and the same each time. Member 1 has `shared` addresses shared with them. Folder 1 holds the addresses of member 2,
 * and folder 2 a thousand addresses of any member. Group 1 has 20 counterparties and group 2 has 500. `client` owns the
 * database.
 */
export async function seedFeedWorld(client: pg.Client, size: FeedWorldSize): Promise<FeedWorld> {
  await client.query(`create function pg_temp.pick(n bigint, salt bigint, below bigint) returns bigint immutable
    language sql as 'select (hashint8extended(n, salt) & 9223372036854775807) % below'`)
  await client.query(`create temp view moment as select timestamptz '2025-01-01T00:00:00Z' as start`)
  for (const statement of [...people(size), ...registry, ...addressBook(size), ...sharing(size)]) {
    await client.query(statement)
  }
  const indexes = await dropIndexes(client, ['operations', 'transfers', 'deposits', 'category_assignments'])
  // To check each foreign key of each row takes longer than all other work. The rows fit by their construction.
  await client.query('set session_replication_role = replica')
  for (const statement of operations(size)) await client.query(statement)
  await client.query('reset session_replication_role')
  for (const index of indexes) await client.query(index)
  await client.query('vacuum (analyze)')
  return { ...size, vaultId, idOf }
}

const series = (count: number) => `generate_series(1, ${count}) n, moment`

const people = ({ members }: FeedWorldSize) => [
  `insert into users (id, email, name, created_at, updated_at)
    select ${id('user', 'n')}, 'member.' || n || '@example.org', 'Member ' || n, start, start from ${series(members)}`,
  `insert into vaults (id, code, name, wallet_service_url, created_at, updated_at)
    select '${vaultId}', 'main-vault', 'Main vault', 'http://127.0.0.1:1', start, start from moment`,
  `insert into policy_groups (vault_id, id, code, name, created_at, updated_at)
    select '${vaultId}', ${id('group', '0')}, 'members', 'Members', start, start from moment`,
  `insert into policy_group_memberships (vault_id, id, group_id, user_id, created_at)
    select '${vaultId}', 'cm' || lpad(n::text, 23, '0'), ${id('group', '0')}, ${id('user', 'n')}, start from ${series(members)}`,
]

const registry = [
  `insert into networks (id, coin_type, code, slug, name, type, created_at, updated_at)
    select ${id('network', 'n')}, n, 'N' || n, 'network-' || n, 'Network ' || n, 'evm', start, start
    from ${series(feedNetworks)}`,
  `insert into tokens (id, network_id, code, symbol, name, contract_address, contract_key, decimals, created_at, updated_at)
    select ${id('token', 'n')}, ${id('network', `1 + n % ${feedNetworks}`)}, 'T' || n % 10, 'T' || n, 'Token ' || n, '0x' || n,
      '0x' || n, 6, start, start
    from ${series(feedTokens)}`,
]

const addressBook = ({ addresses, members }: FeedWorldSize) => [
  `insert into addresses (vault_id, id, network_id, address, address_key, derivation_path, static_prefix, path_index,
      segments, owner_id, created_at, updated_at)
    select '${vaultId}', ${id('address', 'n')}, ${id('network', '1')}, '0x' || n, '0x' || n, 'm/44/' || n, 'm/44', n, '{}',
      ${id('user', `1 + n % ${members}`)}, start, start from ${series(addresses)}`,
  `insert into counterparties (vault_id, id, name, kind, created_by_id, created_at, updated_at)
    select '${vaultId}', ${id('counterparty', 'n')}, 'Supplier ' || n, 'company', ${id('user', '1')}, start, start
    from ${series(feedCounterparties)}`,
  `insert into counterparty_groups (vault_id, id, code, name, created_at, updated_at)
    select '${vaultId}', ${id('group', 'n')}, 'group-' || n, 'Group ' || n, start, start from ${series(2)}`,
  `insert into counterparty_group_memberships (vault_id, group_id, counterparty_id, created_at)
    select '${vaultId}', ${id('group', 'g')}, ${id('counterparty', 'n')}, start
    from generate_series(1, 2) g, ${series(500)} where n <= 20 or g = 2`,
  `insert into operation_categories (vault_id, id, key, name, applies_to, view_scope, assign_scope, edit_scope,
      approval_scope, approval_threshold, allow_initiator_approval, created_by_id, updated_by_id, created_at, updated_at)
    select '${vaultId}', ${id('category', 'n')}, 'category_' || n, 'Category ' || n, 'both',
      (array['vault_members', 'owner_only', 'restricted'])[1 + n % 3], 'vault_members', 'vault_members', 'none', 0, false,
      'x', 'x', start, start from ${series(feedCategories)}`,
]

const sharing = ({ addresses, members, shared }: FeedWorldSize) => [
  // The addresses are spread over the vault, and none is owned by the grantee.
  `insert into address_grants (vault_id, id, address_id, subject_type, subject_id, can_view, can_transfer, grantor_id, created_at)
    select '${vaultId}', 'cr' || lpad(n::text, 23, '0'), ${id('address', 'n')}, 'user', ${id('user', '1')}, true, false, 'x', start
    from ${series(addresses)} where n % ${members} <> 0 and n % ${Math.max(1, Math.floor(addresses / shared / 1.01))} = 0
    limit ${shared}`,
  `insert into address_groups (vault_id, id, name, created_by_id, created_at, updated_at)
    select '${vaultId}', ${id('folder', 'n')}, 'Folder ' || n, ${id('user', '2')}, start, start from ${series(2)}`,
  `insert into address_group_members (vault_id, group_id, address_id, created_at)
    select '${vaultId}', ${id('folder', `case when n % ${members} = 1 then 1 else 2 end`)}, ${id('address', 'n')}, start
    from ${series(addresses)} where n % ${members} = 1 or n <= 1000`,
  `insert into address_group_grants (vault_id, id, group_id, subject_type, subject_id, can_view, can_transfer, grantor_id, created_at)
    select '${vaultId}', 'cs' || lpad(n::text, 23, '0'), ${id('folder', 'n')}, 'user', ${id('user', '3')}, true, false, 'x', start
    from ${series(2)}`,
]

const operations = ({ operations, addresses, members }: FeedWorldSize) => [
  `insert into operations (vault_id, id, type, status, address_id, owner_id, initiator_id, network_id, token_id, amount,
      flow_type, tx_hash, counterparty_id, counterparty_address_id, counterparty_name, counterparty_kind, payment_purpose,
      created_at, updated_at)
    select '${vaultId}', ${id('operation', 'n')}, case when is_out then 'transfer' else 'deposit' end, status,
      ${id('address', 'address')}, ${id('user', `1 + address % ${members}`)},
      case when not is_out then null when pg_temp.pick(n, 4, 20) = 0 then ${id('user', `1 + pg_temp.pick(n, 5, ${members})`)}
        else ${id('user', `1 + address % ${members}`)} end,
      ${id('network', `1 + token % ${feedNetworks}`)}, ${id('token', 'token')}, 1 + n % 1000000,
      case when pg_temp.pick(n, 7, 10) = 0 then 'internal' else 'external' end,
      case when status = 'confirmed' then '0x' || md5((n / 2)::text) end,
      ${id('counterparty', 'counterparty')}, ${id('counterparty', 'counterparty')}, 'Supplier ' || counterparty,
      case when counterparty is not null then 'company' end,
      case when pg_temp.pick(n, 10, 5) = 0 then 'Invoice ' || pg_temp.pick(n, 11, 5000) end,
      start + n * interval '1 second', start + n * interval '1 second'
    from ${series(operations)}
    cross join lateral (select pg_temp.pick(n, 2, 10) >= 7 as is_out, pg_temp.pick(n, 3, 100) as luck,
      1 + pg_temp.pick(n, 1, ${addresses}) as address, 1 + pg_temp.pick(n, 6, ${feedTokens}) as token,
      case when pg_temp.pick(n, 8, 10) < 3 then 1 + pg_temp.pick(n, 9, ${feedCounterparties}) end as counterparty) x
    cross join lateral (select case when not is_out or luck < 90 then 'confirmed' when luck < 94 then 'failed'
      when luck < 96 then 'rejected' when luck < 98 then 'cancelled' when luck < 99 then 'pending'
      else 'awaiting_approval' end as status) y`,
  `insert into transfers (vault_id, id, to_address, to_address_key, payload, payload_hash, decision, decision_policy_id,
      phase, created_at)
    select vault_id, id, 'x', 'x', '{}', '', '{}', ${id('policy', `1 + pg_temp.pick(right(id, 20)::bigint, 12, ${feedPolicies})`)},
      'done', created_at from operations where type = 'transfer'`,
  `insert into deposits (vault_id, id, address_id, token_id, tx_hash, tx_index, created_at)
    select vault_id, id, address_id, token_id, tx_hash, right(id, 9)::integer, created_at from operations where type = 'deposit'`,
  `insert into transfer_hashes (vault_id, tx_hash, created_at, id)
    select vault_id, tx_hash, created_at, id from operations where type = 'transfer' and tx_hash is not null`,
  `insert into unconfirmed_transfers (vault_id, status, created_at, id)
    select vault_id, status, created_at, id from operations where type = 'transfer' and status <> 'confirmed'`,
  `insert into category_assignments (vault_id, id, operation_id, operation_type, operation_created_at, category_id,
      values, assigned_by_id, created_at, updated_at)
    select vault_id, 'cq' || right(id, 23), id, type, created_at,
      ${id('category', `1 + pg_temp.pick(right(id, 20)::bigint, 14, ${feedCategories})`)}, '{}', 'x', created_at, created_at
    from operations where pg_temp.pick(right(id, 20)::bigint, 13, 10) = 0`,
  // The voters of requests that still wait, and of requests that never needed votes.
  `insert into approval_voters (vault_id, id, subject_id, user_id, created_at)
    select vault_id, 'cw' || v || right(id, 22), id, ${id('user', 'v')}, created_at from operations, generate_series(1, 3) v
    where type = 'transfer' and (status = 'awaiting_approval' or pg_temp.pick(right(id, 20)::bigint, 15, 5) = 0)`,
  `insert into approval_eligibilities (vault_id, subject_id, user_id, policy_id, held)
    select v.vault_id, v.subject_id, v.user_id, 'x', case when o.status <> 'awaiting_approval' then true end
    from approval_voters v join operations o on o.vault_id = v.vault_id and o.id = v.subject_id`,
]

/**
 * Drops the indexes of tables and returns the statements that create them again. Rows are inserted several times faster without
 * indexes.
 */
async function dropIndexes(client: pg.Client, tables: string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string; statement: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as statement
     from pg_index i where i.indrelid = any($1::regclass[]) and not i.indisunique`,
    [tables],
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  return rows.map(({ statement }) => statement)
}
