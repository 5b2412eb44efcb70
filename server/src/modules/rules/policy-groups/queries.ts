import { sql } from 'kysely'
import type { Static } from 'typebox'
import { isHeldUser } from '../../../access/memberships.ts'
import { profileOfUser } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Paging } from '../../../lib/cursor.ts'
import type { PolicyGroup, PolicyGroupListItem, PolicyGroupMembership } from './schema.ts'
import { assertWritable, joinVaultRole, lockForAdministrator, type VaultRole } from './vault-role.ts'

export type Times = { createdAt: Date; updatedAt: Date }
type GroupFields = Omit<Static<typeof PolicyGroupListItem>, keyof Times | '_count'> & Times
export type GroupListRow = GroupFields & { policyCount: number; membershipCount: number }

/** The times inside `policies` and `memberships` are timestamptz in the format of PostgreSQL's JSON. */
export type GroupRow = GroupFields & Pick<Static<typeof PolicyGroup>, 'policies' | 'memberships'>
export type MembershipRow = Omit<Static<typeof PolicyGroupMembership>, 'createdAt'> & Pick<Times, 'createdAt'>

export async function findGroup(db: Db | Trx, id: string, callerId: string): Promise<ForCaller<GroupRow>> {
  const { rows } = await sql<GroupRow & VaultRole>`
    select ${groupColumns}, s.*, coalesce(p.policies, '[]') as policies, coalesce(m.memberships, '[]') as memberships
    from policy_groups g
    ${joinVaultRole(sql`g.vault_id`, callerId)}
    left join lateral (
      select jsonb_agg(jsonb_build_object('id', p.id, 'code', p.code, 'name', p.name, 'actionType', p.action_type,
        'effect', p.effect, 'enabled', p.enabled, 'createdAt', p.created_at) order by p.created_at, p.id) as policies
      from policies p where p.vault_id = g.vault_id and p.group_id = g.id
    ) p on true
    left join lateral (
      select jsonb_agg(jsonb_build_object('id', m.id, 'userId', m.user_id,
        'user', ${profileOfUser(sql.ref('m.user_id'))}, 'createdAt', m.created_at)
        order by m.created_at, m.id) as memberships
      from policy_group_memberships m where m.vault_id = g.vault_id and m.group_id = g.id
    ) m on true
    where g.id = ${id}`.execute(db)
  return rows[0]
}

/** As `findGroup`, and locks it until the transaction ends. @throws 404; 403 for callers who may not change it */
export async function lockGroup(trx: Trx, id: string, callerId: string): Promise<GroupRow> {
  await lockForAdministrator(trx, 'policy_groups', id, callerId)
  return assertWritable(await findGroup(trx, id, callerId), 'Policy group')
}

type NamedGroup = Pick<GroupRow, 'id' | 'code' | 'name' | 'isSystem'>

/** The groups of a vault that store the user, locked in the order of their ids until the transaction ends. */
export async function lockGroupsOf(trx: Trx, vaultId: string, userId: string): Promise<NamedGroup[]> {
  await sql`
    select from policy_groups g where g.vault_id = ${vaultId} and g.id in (
      select m.group_id from policy_group_memberships m where m.vault_id = ${vaultId} and m.user_id = ${userId})
    order by g.id for update`.execute(trx)
  // This is read after the lock, because another removal may have come first.
  const { rows } = await sql<NamedGroup>`
    select g.id, g.code, g.name, g.is_system as "isSystem" from policy_groups g
    join policy_group_memberships m on m.vault_id = g.vault_id and m.group_id = g.id
    where g.vault_id = ${vaultId} and m.user_id = ${userId} order by g.name, g.id`.execute(trx)
  return rows
}

export async function listGroups(db: Db | Trx, vaultId: string, { after, limit }: Paging): Promise<GroupListRow[]> {
  const { rows } = await sql<GroupListRow>`
    select ${groupColumns},
      (select count(*)::int from policies p where p.vault_id = g.vault_id and p.group_id = g.id) as "policyCount",
      (select count(*)::int from policy_group_memberships m where m.vault_id = g.vault_id and m.group_id = g.id)
        as "membershipCount"
    from policy_groups g
    where g.vault_id = ${vaultId} ${after === null ? sql`` : sql`and (g.created_at, g.id) < (${after.createdAt}::timestamptz, ${after.id})`}
    order by g.created_at desc, g.id desc
    limit ${limit + 1}`.execute(db)
  return rows
}

/** Returns true if a person who can sign in and is not held remains in the group after `leavingUserId` leaves. */
export async function hasOtherActivePerson(
  trx: Trx,
  group: { vaultId: string; id: string },
  leavingUserId: string,
): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (
      select 1 from policy_group_memberships m
      join users u on u.id = m.user_id and u.disabled_at is null and u.kind = 'person'
      where m.vault_id = ${group.vaultId} and m.group_id = ${group.id} and m.user_id <> ${leavingUserId}
        and not ${isHeldUser(sql.ref('m.vault_id'), sql.ref('m.user_id'))}
    ) as has`.execute(trx)
  return rows[0]?.has === true
}

const groupColumns = sql`
  g.vault_id as "vaultId", g.id, g.code, g.name, g.description, g.logo_uri as "logoUri", g.color, g.emoji,
  g.is_system as "isSystem", g.created_at as "createdAt", g.updated_at as "updatedAt"`

/** A row with the role of the caller in its vault. */
export type ForCaller<Row> = (Row & VaultRole) | undefined
