import { type RawBuilder, sql } from 'kysely'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { Counterparties } from '../../../db/types.ts'
import { wireTime } from '../../../db/wire-time.ts'
import type { Paging } from '../../../lib/cursor.ts'
import type { Objection } from '../../../lib/errors.ts'
import { containsPattern } from '../../../lib/like.ts'
import { addressKeyOn } from '../../registry/networks/queries.ts'
import type { counterpartyKinds } from '../../rules/selectors/facts.ts'

export type CounterpartyKind = (typeof counterpartyKinds)[number]

/** `createdAt` is an ISO timestamp. */
export type CounterpartyAddressRow = {
  id: string
  network: string
  address: string
  label: string | null
  createdAt: string
}

export type CounterpartyRow = RowOf<
  Omit<Counterparties, 'created_by_id'>,
  { kind: CounterpartyKind; groups: { id: string; code: string; name: string }[]; addresses: CounterpartyAddressRow[] }
>

type Filter = { search?: string; kind?: CounterpartyKind; groupId?: string; archived?: boolean }

/** Returns counterparties of the vault, newest first; one row more than the limit. */
export async function listCounterparties(
  db: Db | Trx,
  vaultId: string,
  filter: Filter,
  { after, limit }: Paging,
): Promise<CounterpartyRow[]> {
  const pattern = filter.search === undefined ? null : containsPattern(filter.search)
  const { rows } = await sql<CounterpartyRow>`
    ${selectCounterparties} where c.vault_id = ${vaultId}
      ${filter.kind === undefined ? sql`` : sql`and c.kind = ${filter.kind}`}
      ${filter.archived === undefined ? sql`` : sql`and (c.archived_at is not null) = ${filter.archived}`}
      ${
        filter.groupId === undefined
          ? sql``
          : sql`and c.id in (select m.counterparty_id from counterparty_group_memberships m
              where m.vault_id = ${vaultId} and m.group_id = ${filter.groupId})`
      }
      ${
        pattern === null
          ? sql``
          : sql`and (c.name ilike ${pattern} or exists (select from counterparty_addresses s
              where s.vault_id = c.vault_id and s.counterparty_id = c.id
                and (s.address ilike ${pattern} or s.label ilike ${pattern})))`
      }
      ${after === null ? sql`` : sql`and (c.created_at, c.id) < (${after.createdAt}, ${after.id})`}
    order by c.created_at desc, c.id desc limit ${limit + 1}`.execute(db)
  return rows
}

export async function findCounterparty(db: Db | Trx, vaultId: string, id: string): Promise<CounterpartyRow | null> {
  const { rows } = await sql<CounterpartyRow>`
    ${selectCounterparties} where c.vault_id = ${vaultId} and c.id = ${id}`.execute(db)
  return rows[0] ?? null
}

/** Returns the address of a counterparty on a network, found by any spelling of the address. */
export async function findCounterpartyAddress(
  db: Db | Trx,
  vaultId: string,
  { network, address }: { network: string; address: string },
): Promise<CounterpartyAddressRow | null> {
  const { rows } = await sql<CounterpartyAddressRow>`
    select s.id, n.slug as network, s.address, s.label, ${wireTime('s.created_at')} as "createdAt"
    from networks n join counterparty_addresses s on s.vault_id = ${vaultId} and s.network_id = n.id
      and s.address_key = ${addressKeyOn('n', address)}
    where n.slug = ${network}`.execute(db)
  return rows[0] ?? null
}

type TakenAddress = {
  network_id: string
  address_key: string
  /** Null for an address of the vault itself. */
  counterparty_address_id: string | null
  /** The name of the counterparty. */
  name: string | null
}

/** Returns the on-chain addresses of the list that a counterparty or the vault itself already has. */
export async function listTakenAddresses(
  db: Db | Trx,
  vaultId: string,
  wanted: { networkId: string; key: string }[],
): Promise<TakenAddress[]> {
  const networkIds = wanted.map(({ networkId }) => networkId)
  const keys = wanted.map(({ key }) => key)
  const { rows } = await sql<TakenAddress>`
    select w.network_id, w.address_key, s.id as counterparty_address_id, c.name
    from unnest(${networkIds}::text[], ${keys}::text[]) as w (network_id, address_key)
    left join addresses a on a.vault_id = ${vaultId} and a.network_id = w.network_id and a.address_key = w.address_key
    left join counterparty_addresses s
      on s.vault_id = ${vaultId} and s.network_id = w.network_id and s.address_key = w.address_key
    left join counterparties c on c.vault_id = s.vault_id and c.id = s.counterparty_id
    where a.id is not null or s.id is not null`.execute(db)
  return rows
}

/** The owner of an on-chain address. Timestamps are ISO. */
export type AddressOwner = {
  id: string
  addressId: string
  name: string
  kind: CounterpartyKind
  createdAt: string
  /** The time at which the counterparty got the address. */
  addedAt: string
  archivedAt: string | null
  /** The ids of the groups that the counterparty is in now. */
  groupIds: string[]
}

/** Returns the objection to an archived recipient, or null. The objection has no name when the counterparty is not named. */
export const objectionOfArchived = (archived: { name?: string } | null): Objection<'archived'> | null =>
  archived && {
    reason: 'archived',
    message: 'The counterparty is archived',
    ...(archived.name === undefined ? {} : { details: `toAddress belongs to ${archived.name}, which is archived` }),
  }

/** SQL: returns the `AddressOwner` of this address key on a network, or null. The arguments are SQL. */
export const ownerOfAddress = (
  vaultId: RawBuilder<unknown>,
  networkId: RawBuilder<unknown>,
  key: RawBuilder<unknown>,
) =>
  sql<AddressOwner | null>`(
    select json_build_object('id', c.id, 'addressId', s.id, 'name', c.name, 'kind', c.kind,
      'createdAt', ${wireTime('c.created_at')}, 'archivedAt', ${wireTime('c.archived_at')},
      'addedAt', ${wireTime('s.created_at')}, 'groupIds', ${groupIdsOf('c')})
    from counterparty_addresses s join counterparties c on c.vault_id = s.vault_id and c.id = s.counterparty_id
    where s.vault_id = ${vaultId} and s.network_id = ${networkId} and s.address_key = ${key})`

/** SQL: returns the ids of the groups that the counterparty `alias` is in now. */
const groupIdsOf = (alias: string) =>
  sql<string[]>`array(select m.group_id from counterparty_group_memberships m
    where m.vault_id = ${sql.ref(`${alias}.vault_id`)} and m.counterparty_id = ${sql.ref(`${alias}.id`)} order by m.group_id)`

const selectCounterparties = sql`
  select c.vault_id, c.id, c.name, c.kind, c.description, c.avatar_uri, c.color, c.emoji, c.archived_at, c.version,
    c.created_at, c.updated_at, coalesce(g.items, '[]') as groups, coalesce(a.items, '[]') as addresses
  from counterparties c
  left join lateral (
    select json_agg(json_build_object('id', h.id, 'code', h.code, 'name', h.name) order by h.code) as items
    from counterparty_group_memberships m
    join counterparty_groups h on h.vault_id = m.vault_id and h.id = m.group_id
    where m.vault_id = c.vault_id and m.counterparty_id = c.id
  ) g on true
  left join lateral (
    select json_agg(json_build_object('id', s.id, 'network', n.slug, 'address', s.address, 'label', s.label,
      'createdAt', ${wireTime('s.created_at')}) order by s.created_at, s.id) as items
    from counterparty_addresses s join networks n on n.id = s.network_id
    where s.vault_id = c.vault_id and s.counterparty_id = c.id
  ) a on true`
