import { sql } from 'kysely'
import { membershipOf } from '../../../access/memberships.ts'
import type { SubjectKind } from '../../../access/subjects.ts'
import { isEveryone } from '../../../access/system-groups.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import type { Position } from '../../../lib/cursor.ts'
import type { ActionType, PolicyEffect, PolicySnapshot, StoredRule } from './decision.ts'
import { joinVaultRole, lockForAdministrator } from './role-queries.ts'
import { assertWritable, type VaultRole } from './vault-role.ts'

export type PolicyRow = {
  vaultId: string
  id: string
  groupId: string
  code: string
  name: string
  description: string | null
  logoUri: string | null
  color: string | null
  emoji: string | null
  actionType: ActionType
  effect: PolicyEffect
  blockReason: string | null
  approvalThreshold: number
  adminBypass: boolean
  allowInitiatorApproval: boolean
  enabled: boolean
  rules: StoredRule[]
  createdAt: Date
  updatedAt: Date
  approvers: {
    id: string
    kind: SubjectKind
    userId: string | null
    groupId: string | null
    createdAt: string
  }[]
  groupCode: string
  groupName: string
}

/** The initiator with the groups that policies check; `groupIds` includes the built-in group `everyone`. */
export type Initiator = { userId: string; groupIds: string[]; isAdmin: boolean }

/** A member of the vault as an initiator; null when they are disabled or no longer in any group of it. */
export async function findInitiator(db: Db | Trx, vaultId: string, userId: string): Promise<Initiator | null> {
  const { rows } = await sql<Initiator>`
    select u.id as "userId", m.group_ids || e.id as "groupIds", m.is_admin as "isAdmin"
    from ${membershipOf(sql`${vaultId}`, sql`${userId}`)} m
    join users u on u.id = ${userId} and u.disabled_at is null
    join policy_groups e on e.vault_id = ${vaultId} and ${isEveryone('e')}
    where m.is_member`.execute(db)
  return rows[0] ?? null
}

/** Enabled policies of an action in the given groups, ordered by id, with their explicit approvers. */
export async function listCandidates(
  db: Db | Trx,
  vaultId: string,
  actionType: string,
  groupIds: string[],
): Promise<PolicySnapshot[]> {
  const { rows } = await sql<PolicySnapshot>`${prepared}
    select p.id, p.group_id as "groupId", p.code, p.name, p.action_type as "actionType", p.effect,
      p.block_reason as "blockReason", p.approval_threshold as "approvalThreshold", p.admin_bypass as "adminBypass",
      p.allow_initiator_approval as "allowInitiatorApproval", p.rules, coalesce(a.approvers, '[]') as approvers
    from policies p
    left join lateral (
      select jsonb_agg(jsonb_build_object('kind', a.kind, 'id', coalesce(a.user_id, a.group_id)) order by a.id)
        as approvers
      from policy_approvers a where a.vault_id = p.vault_id and a.policy_id = p.id
    ) a on true
    where p.vault_id = ${vaultId} and p.action_type = ${actionType} and p.enabled and p.group_id = any(${groupIds})
    order by p.id collate "C"`.execute(db)
  return rows
}

export async function findPolicy(
  db: Db | Trx,
  id: string,
  callerId: string,
): Promise<(PolicyRow & VaultRole) | undefined> {
  const { rows } = await sql<PolicyRow & VaultRole>`
    select ${policyColumns}, s.*
    from policies p ${policyJoins} ${joinVaultRole(sql`p.vault_id`, callerId)}
    where p.id = ${id}`.execute(db)
  return rows[0]
}

/** As `findPolicy`, and locks it until the transaction ends. @throws 404; 403 for callers who may not change it */
export async function lockPolicy(trx: Trx, id: string, callerId: string): Promise<PolicyRow> {
  await lockForAdministrator(trx, 'policies', id, callerId)
  return assertWritable(await findPolicy(trx, id, callerId), 'Policy')
}

export type PolicyFilter = { actionType?: ActionType; effect?: PolicyEffect; enabled?: boolean }

export async function listPolicies(
  db: Db | Trx,
  vaultId: string,
  filter: PolicyFilter,
  { after, limit }: { after: Position | null; limit: number },
): Promise<PolicyRow[]> {
  const { actionType, effect, enabled } = filter
  const { rows } = await sql<PolicyRow>`
    select ${policyColumns}
    from policies p ${policyJoins}
    where p.vault_id = ${vaultId}
      ${actionType === undefined ? sql`` : sql`and p.action_type = ${actionType}`}
      ${effect === undefined ? sql`` : sql`and p.effect = ${effect}`}
      ${enabled === undefined ? sql`` : sql`and p.enabled = ${enabled}`}
      ${after === null ? sql`` : sql`and (p.created_at, p.id) < (${after.createdAt}::timestamptz, ${after.id})`}
    order by p.created_at desc, p.id desc
    limit ${limit + 1}`.execute(db)
  return rows
}

const policyColumns = sql`
  p.vault_id as "vaultId", p.id, p.group_id as "groupId", p.code, p.name, p.description, p.logo_uri as "logoUri",
  p.color, p.emoji, p.action_type as "actionType", p.effect, p.block_reason as "blockReason",
  p.approval_threshold as "approvalThreshold", p.admin_bypass as "adminBypass",
  p.allow_initiator_approval as "allowInitiatorApproval", p.enabled, p.rules, p.created_at as "createdAt",
  p.updated_at as "updatedAt", coalesce(a.approvers, '[]') as approvers, g.code as "groupCode", g.name as "groupName"`

const policyJoins = sql`
  join policy_groups g on g.vault_id = p.vault_id and g.id = p.group_id
  left join lateral (
    select jsonb_agg(jsonb_build_object('id', a.id, 'kind', a.kind, 'userId', a.user_id, 'groupId', a.group_id,
      'createdAt', a.created_at) order by a.id) as approvers
    from policy_approvers a where a.vault_id = p.vault_id and a.policy_id = p.id
  ) a on true`
