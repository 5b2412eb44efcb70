import { sql } from 'kysely'
import { type AddressScope, isFolderGranted, isFolderVisible } from '../../../access/address-scope.ts'
import { isEveryone } from '../../../access/memberships.ts'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { AddressGroups } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import type { FolderAccess } from './schema.ts'

export type AddressGroupRow = RowOf<
  AddressGroups,
  {
    member_count: number
    access: FolderAccess
    is_shared: boolean
    participant_count: number
    created_by: MemberProfile | null
  }
>

/** Returns the folders that the viewer manages, was granted or administers, newest first; one row more than the limit. */
export async function listAddressGroups(
  db: Db | Trx,
  scope: AddressScope,
  { after, limit }: Paging,
): Promise<AddressGroupRow[]> {
  const { rows } = await sql<AddressGroupRow>`
    ${selectAddressGroups(scope)}
      ${after === null ? sql`` : sql`and (f.created_at, f.id) < (${after.createdAt}, ${after.id})`}
    order by f.created_at desc, f.id desc limit ${limit + 1}`.execute(db)
  return rows
}

/** @throws 404 for a folder that the viewer may not see */
export async function getAddressGroup(db: Db | Trx, scope: AddressScope, id: string): Promise<AddressGroupRow> {
  const { rows } = await sql<AddressGroupRow>`${selectAddressGroups(scope)} and f.id = ${id}`.execute(db)
  return orNotFound(rows[0], 'Address group')
}

/**
 * Locks a folder of the viewer until the end of the transaction: `update` before it is changed or deleted, `share`
 * while its addresses or grants are changed. Only its manager can block other callers with this lock.
 */
export async function lockOwnAddressGroup(
  trx: Trx,
  { vaultId, viewer }: AddressScope,
  id: string,
  strength: 'update' | 'share',
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from address_groups f
    where f.vault_id = ${vaultId} and f.id = ${id} and f.created_by_id = ${viewer.userId}
    for ${sql.raw(strength)}`.execute(trx)
  return rows.length > 0
}

export type AddressGroupMemberRow = {
  group_id: string
  address_id: string
  created_at: Date
  address: string
  label: string | null
}

/** Returns the addresses in a folder that the viewer may see, the latest first; one row more than the limit. */
export async function listAddressGroupMembers(
  db: Db | Trx,
  scope: AddressScope,
  groupId: string,
  { after, limit }: Paging,
): Promise<AddressGroupMemberRow[]> {
  const { rows } = await sql<AddressGroupMemberRow>`
    ${selectMembers(scope, groupId)}
      ${after === null ? sql`` : sql`and (m.created_at, m.address_id) < (${after.createdAt}, ${after.id})`}
    order by m.created_at desc, m.address_id desc limit ${limit + 1}`.execute(db)
  return rows
}

export async function findAddressGroupMember(
  db: Db | Trx,
  scope: AddressScope,
  { groupId, addressId }: { groupId: string; addressId: string },
): Promise<AddressGroupMemberRow | null> {
  const { rows } = await sql<AddressGroupMemberRow>`
    ${selectMembers(scope, groupId)} and m.address_id = ${addressId}`.execute(db)
  return rows[0] ?? null
}

function selectAddressGroups(scope: AddressScope) {
  return sql`
    select f.vault_id, f.id, f.name, f.description, f.color, f.emoji, f.created_by_id, f.created_at, f.updated_at,
      ${profileOfUser(sql`f.created_by_id`)} as created_by,
      (select count(*)::int from address_group_members m where m.vault_id = f.vault_id and m.group_id = f.id)
        as member_count,
      case when f.created_by_id = ${scope.viewer.userId} then 'manager'
        when ${isFolderGranted(scope, 'f')} then 'granted' else 'admin' end as access,
      exists (select from address_group_grants g where g.vault_id = f.vault_id and g.group_id = f.id) as is_shared,
      ${participantCount} as participant_count
    from address_groups f
    where ${isFolderVisible(scope, 'f')}`
}

/** SQL: returns the number of people with access by the grants of the folder `f`: directly, by a group, or by `everyone`. */
const participantCount = sql`(
  select count(*)::int
  from (
    select g.subject_id as user_id from address_group_grants g
    where g.vault_id = f.vault_id and g.group_id = f.id and g.subject_type = 'user'
    union
    select m.user_id from address_group_grants g
    join policy_group_memberships m on m.vault_id = g.vault_id and m.group_id = g.subject_group_id
    where g.vault_id = f.vault_id and g.group_id = f.id
    union
    select m.user_id from policy_group_memberships m
    where m.vault_id = f.vault_id and exists (
      select from address_group_grants g
      join policy_groups e on e.vault_id = g.vault_id and e.id = g.subject_group_id and ${isEveryone('e')}
      where g.vault_id = f.vault_id and g.group_id = f.id)
  ) reached
  join users u on u.id = reached.user_id and u.kind = 'person' and u.disabled_at is null
  where u.id <> f.created_by_id and exists (
    select from policy_group_memberships m where m.vault_id = f.vault_id and m.user_id = u.id))`

function selectMembers(scope: AddressScope, groupId: string) {
  return sql`
    select m.group_id, m.address_id, m.created_at, a.address, a.label
    from address_group_members m
    join address_groups f on f.vault_id = m.vault_id and f.id = m.group_id
    join addresses a on a.vault_id = m.vault_id and a.id = m.address_id
    where m.vault_id = ${scope.vaultId} and m.group_id = ${groupId} and ${isFolderVisible(scope, 'f')}`
}
