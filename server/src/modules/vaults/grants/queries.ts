import { sql } from 'kysely'
import { type AddressScope, isAddressInScope, isFolderVisible } from '../../../access/address-scope.ts'
import type { SubjectKind } from '../../../access/memberships.ts'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Paging } from '../../../lib/cursor.ts'

/** The objects of grants: an address, or a folder with its addresses. */
export type Shared = { type: 'address' | 'address_group'; id: string }

/** The table of the grants and its column of the object, and the table of the object with its name and owner. */
export const grantsOn = {
  address: { table: 'address_grants', column: 'address_id', shared: 'addresses', name: 'address', owner: 'owner_id' },
  address_group: {
    table: 'address_group_grants',
    column: 'group_id',
    shared: 'address_groups',
    name: 'name',
    owner: 'created_by_id',
  },
} as const

export type GrantRow = {
  vault_id: string
  id: string
  /** The address or the folder. */
  shared_id: string
  /** The on-chain address, or the name of the folder. */
  shared_name: string
  /** The owner of the address or the manager of the folder. */
  shared_owner_id: string
  subject_type: SubjectKind
  subject_id: string
  can_view: boolean
  can_transfer: boolean
  grantor_id: string
  grantor: MemberProfile | null
  created_at: Date
  /** Null, like the two other columns, for a member without a user of this service. */
  user_name: string | null
  username: string | null
  image: string | null
  color: string | null
  emoji: string | null
  /** Null when the subject is a user. */
  group_code: string | null
  group_name: string | null
}

/** SQL: returns the grants on a row of addresses or folders as an object: rights in words by their subject. */
export function grantsInWords(type: Shared['type'], row: string) {
  const { table, column } = grantsOn[type]
  return sql<object>`(
    select coalesce(json_object_agg(g.subject, case when g.can_transfer then 'view and transfer' else 'view' end), '{}')
    from ${sql.table(table)} g where g.vault_id = ${sql.ref(`${row}.vault_id`)}
      and g.${sql.ref(column)} = ${sql.ref(`${row}.id`)})`
}

/** Returns the grants on an object that the viewer may see, newest first; one row more than the limit. */
export async function listGrants(
  db: Db | Trx,
  scope: AddressScope,
  shared: Shared,
  { after, limit }: Paging,
): Promise<GrantRow[]> {
  const { rows } = await sql<GrantRow>`
    ${selectGrants(scope, shared)}
      ${after === null ? sql`` : sql`and (g.created_at, g.id) < (${after.createdAt}, ${after.id})`}
    order by g.created_at desc, g.id desc limit ${limit + 1}`.execute(db)
  return rows
}

/** Returns null when the grant does not exist or the viewer may not see its object. */
export async function findGrant(
  db: Db | Trx,
  scope: AddressScope,
  shared: Shared,
  id: string,
): Promise<GrantRow | null> {
  const { rows } = await sql<GrantRow>`${selectGrants(scope, shared)} and g.id = ${id}`.execute(db)
  return rows[0] ?? null
}

function selectGrants(scope: AddressScope, { type, id }: Shared) {
  const { table, column, shared, name, owner } = grantsOn[type]
  const isVisible = type === 'address' ? isAddressInScope(scope, 's') : isFolderVisible(scope, 's')
  return sql`
    select g.vault_id, g.id, s.id as shared_id, ${sql.ref(`s.${name}`)} as shared_name,
      ${sql.ref(`s.${owner}`)} as shared_owner_id, g.subject_type, g.subject_id, g.can_view, g.can_transfer, g.grantor_id,
      ${profileOfUser(sql`g.grantor_id`)} as grantor, g.created_at, u.name as user_name, u.username, u.image, u.color,
      u.emoji, p.code as group_code, p.name as group_name
    from ${sql.table(table)} g
    join ${sql.table(shared)} s
      on s.vault_id = g.vault_id and s.id = ${sql.ref(`g.${column}`)} and ${isVisible}
    left join users u on g.subject_type = 'user' and u.id = g.subject_id
    left join policy_groups p on p.vault_id = g.vault_id and p.id = g.subject_group_id
    where g.vault_id = ${scope.vaultId} and ${sql.ref(`g.${column}`)} = ${id}`
}
