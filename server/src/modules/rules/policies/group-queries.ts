import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { Position } from '../../../lib/cursor.ts'
import type { ActionType, PolicyEffect } from './decision.ts'
import { joinVaultRole, lockForAdministrator } from './role-queries.ts'
import { assertWritable, type VaultRole } from './vault-role.ts'

type GroupFields = {
  vaultId: string
  id: string
  code: string
  name: string
  description: string | null
  logoUri: string | null
  color: string | null
  emoji: string | null
  isSystem: boolean
  createdAt: Date
  updatedAt: Date
}
export type GroupListRow = GroupFields & { policyCount: number; membershipCount: number }
/** The times inside `policies` and `memberships` are timestamptz in the format of PostgreSQL's JSON. */
export type GroupRow = GroupFields & {
  policies: {
    id: string
    code: string
    name: string
    actionType: ActionType
    effect: PolicyEffect
    enabled: boolean
    createdAt: string
  }[]
  memberships: { id: string; userId: string; createdAt: string }[]
}
export type MembershipRow = { id: string; groupId: string; userId: string; createdAt: Date }

export async function findGroup(
  db: Db | Trx,
  id: string,
  callerId: string,
): Promise<(GroupRow & VaultRole) | undefined> {
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
      select jsonb_agg(jsonb_build_object('id', m.id, 'userId', m.user_id, 'createdAt', m.created_at)
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

export async function listGroups(
  db: Db | Trx,
  vaultId: string,
  { after, limit }: { after: Position | null; limit: number },
): Promise<GroupListRow[]> {
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

/** The groups of the list that the vault has; they cannot be deleted until the transaction ends. */
export async function lockExistingGroups(trx: Trx, vaultId: string, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    select id from policy_groups where vault_id = ${vaultId} and id = any(${ids}) order by id for key share`.execute(
    trx,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Whether a user who can sign in remains in the group when `leavingUserId` leaves it. */
export async function hasOtherActiveMember(
  trx: Trx,
  group: { vaultId: string; id: string },
  leavingUserId: string,
): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (
      select 1 from policy_group_memberships m join users u on u.id = m.user_id and u.disabled_at is null
      where m.vault_id = ${group.vaultId} and m.group_id = ${group.id} and m.user_id <> ${leavingUserId}
    ) as has`.execute(trx)
  return rows[0]?.has === true
}

/** The uses that prevent the deletion of a group. */
export async function groupUses(
  trx: Trx,
  { vaultId, id }: { vaultId: string; id: string },
): Promise<{ hasPolicies: boolean; isApprover: boolean; isSelected: boolean }> {
  const { rows } = await sql<{ hasPolicies: boolean; isApprover: boolean; isSelected: boolean }>`
    select
      exists (select 1 from policies p where p.vault_id = ${vaultId} and p.group_id = ${id}) as "hasPolicies",
      exists (select 1 from policy_approvers a where a.vault_id = ${vaultId} and a.group_id = ${id})
        or exists (select 1 from category_approvers a where a.vault_id = ${vaultId} and a.group_id = ${id}) as "isApprover",
      exists (
        select 1 from policies p
        where p.vault_id = ${vaultId} and jsonb_path_exists(
          p.rules,
          '$[*].selectors[*] ? (@.selectorType == "initiatorGroup").value[*] ? (@ == $id)',
          jsonb_build_object('id', ${id}::text)
        )
      ) as "isSelected"`.execute(trx)
  return rows[0]!
}

const groupColumns = sql`
  g.vault_id as "vaultId", g.id, g.code, g.name, g.description, g.logo_uri as "logoUri", g.color, g.emoji,
  g.is_system as "isSystem", g.created_at as "createdAt", g.updated_at as "updatedAt"`
