import { sql } from 'kysely'
import type { Static } from 'typebox'
import { profileOfUser } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Paging } from '../../../lib/cursor.ts'
import type { PolicyEffect, StoredRule } from '../decisions/decision.ts'
import type { ForCaller } from '../policy-groups/queries.ts'
import { assertWritable, joinVaultRole, lockForAdministrator, type VaultRole } from '../policy-groups/vault-role.ts'
import type { ActionType } from '../selectors/facts.ts'
import type { Policy, PolicyDraft } from './schema.ts'

export type PolicyRow = Omit<PolicyDraft, 'rules' | 'approvers'> & {
  vaultId: string
  id: string
  groupId: string
  rules: StoredRule[]
  createdAt: Date
  updatedAt: Date
  approvers: Static<typeof Policy>['approvers']
  groupCode: string
  groupName: string
}

export async function findPolicy(db: Db | Trx, id: string, callerId: string): Promise<ForCaller<PolicyRow>> {
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

type PolicyFilter = { actionType?: ActionType; effect?: PolicyEffect; enabled?: boolean }

export async function listPolicies(
  db: Db | Trx,
  vaultId: string,
  filter: PolicyFilter,
  { after, limit }: Paging,
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
      'threshold', a.threshold, 'user', ${profileOfUser(sql.ref('a.user_id'))}, 'createdAt', a.created_at) order by a.id)
      as approvers
    from policy_approvers a where a.vault_id = p.vault_id and a.policy_id = p.id
  ) a on true`

/** Returns all policies of a vault, for the verifier. */
export async function listAllPolicies(trx: Trx, vaultId: string): Promise<PolicyRow[]> {
  const { rows } = await sql<PolicyRow>`
    select ${policyColumns} from policies p ${policyJoins} where p.vault_id = ${vaultId} order by p.id`.execute(trx)
  return rows
}

/** The ids of the policies of these codes, by code. */
export async function findPolicyIds(db: Db | Trx, vaultId: string, codes: string[]): Promise<Map<string, string>> {
  if (codes.length === 0) return new Map()
  const { rows } = await sql<{ id: string; code: string }>`
    select id, code from policies where vault_id = ${vaultId} and code = any(${codes})`.execute(db)
  return new Map(rows.map(({ id, code }) => [code, id]))
}
