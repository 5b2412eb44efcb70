import { type RawBuilder, sql } from 'kysely'
import type { Static } from 'typebox'
import { isAdministrators, isEveryone, membershipOf } from '../../../access/memberships.ts'
import { profileOfUser } from '../../../access/profile.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { newId } from '../../../lib/ids.ts'
import type { ActionType, InitiatorKind, PolicyEffect, PolicySnapshot, StoredRule } from './decision.ts'
import type { Policy, PolicyDraft, PolicyGroup, PolicyGroupListItem, PolicyGroupMembership } from './schema.ts'
import type { SelectorType } from './selectors.ts'
import { assertWritable, joinVaultRole, lockForAdministrator, type VaultRole } from './vault-role.ts'

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

/** A row with the role of the caller in its vault. */
type ForCaller<Row> = (Row & VaultRole) | undefined

/** The initiator with the groups that policies check; `groupIds` includes the built-in group `everyone`. */
export type Initiator = { userId: string; kind: InitiatorKind; groupIds: string[]; isAdmin: boolean }

type InitiatorRow = Initiator & { isAuditor: boolean }

/** A member of the vault with their role; null when they are disabled or no longer in any group of it. */
export async function findMembership(db: Db | Trx, vaultId: string, userId: string): Promise<InitiatorRow | null> {
  const { rows } = await sql<InitiatorRow>`
    select u.id as "userId", u.kind, m.group_ids || e.id as "groupIds", m.is_admin as "isAdmin", m.is_auditor as "isAuditor"
    from ${membershipOf(sql`${vaultId}`, sql`${userId}`)} m
    join users u on u.id = ${userId} and u.disabled_at is null
    join policy_groups e on e.vault_id = ${vaultId} and ${isEveryone('e')}
    where m.is_member`.execute(db)
  return rows[0] ?? null
}

/** A member of the vault who may ask for actions; null for an auditor too, who changes nothing. */
export async function findInitiator(db: Db | Trx, vaultId: string, userId: string): Promise<Initiator | null> {
  const found = await findMembership(db, vaultId, userId)
  return found === null || found.isAuditor ? null : found
}

/** Enabled policies of an action in the given groups, ordered by id, with their explicit approvers. */
export async function listCandidates(
  db: Db | Trx,
  vaultId: string,
  actionType: string,
  groupIds: string[],
): Promise<PolicySnapshot[]> {
  const ofAction = sql`p.action_type = ${actionType}`
  const { rows } = await sql<PolicySnapshot>`${prepared} ${candidates(vaultId, groupIds, ofAction)}`.execute(db)
  return rows
}

/** The candidates of every action. */
export async function listAllCandidates(db: Db | Trx, vaultId: string, groupIds: string[]): Promise<PolicySnapshot[]> {
  const { rows } = await candidates(vaultId, groupIds, sql`true`).execute(db)
  return rows
}

function candidates(vaultId: string, groupIds: string[], condition: RawBuilder<unknown>): RawBuilder<PolicySnapshot> {
  return sql<PolicySnapshot>`
    select p.id, p.group_id as "groupId", p.code, p.name, p.action_type as "actionType", p.effect,
      p.block_reason as "blockReason", p.approval_threshold as "approvalThreshold", p.admin_bypass as "adminBypass",
      p.allow_initiator_approval as "allowInitiatorApproval", p.rules, coalesce(a.approvers, '[]') as approvers,
      (select h.number from rules_heads h where h.vault_id = ${vaultId}) as "rulesVersion"
    from policies p
    left join lateral (
      select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('kind', a.kind, 'id', coalesce(a.user_id, a.group_id),
        'threshold', a.threshold)) order by a.id) as approvers
      from policy_approvers a where a.vault_id = p.vault_id and a.policy_id = p.id
    ) a on true
    where p.vault_id = ${vaultId} and ${condition} and p.enabled and p.group_id = any(${groupIds})
    order by p.id collate "C"`
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

/** Every policy of a vault, for the verifier. */
export async function listAllPolicies(trx: Trx, vaultId: string): Promise<PolicyRow[]> {
  const { rows } = await sql<PolicyRow>`
    select ${policyColumns} from policies p ${policyJoins} where p.vault_id = ${vaultId} order by p.id`.execute(trx)
  return rows
}

type Times = { createdAt: Date; updatedAt: Date }
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
  // Read after the lock: another removal may have come first.
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

/** The ids of the policies of these codes, by code. */
export async function findPolicyIds(db: Db | Trx, vaultId: string, codes: string[]): Promise<Map<string, string>> {
  if (codes.length === 0) return new Map()
  const { rows } = await sql<{ id: string; code: string }>`
    select id, code from policies where vault_id = ${vaultId} and code = any(${codes})`.execute(db)
  return new Map(rows.map(({ id, code }) => [code, id]))
}

/** The policy groups, or folders, of the list that the vault has. */
export async function listGroupsAmong(
  db: Db | Trx,
  vaultId: string,
  ids: string[],
  { table = 'policy_groups', lock = sql`` }: { table?: GroupTable; lock?: RawBuilder<unknown> } = {},
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)} where vault_id = ${vaultId} and id = any(${ids}) order by id ${lock}`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

type GroupTable = 'policy_groups' | 'address_groups'

/** As `listGroupsAmong`; they cannot be deleted until the transaction ends. */
export const lockExistingGroups = (trx: Trx, vaultId: string, ids: string[], table?: GroupTable) =>
  listGroupsAmong(trx, vaultId, ids, { table, lock: sql`for key share` })

/** The group of the administrators of a vault. */
export async function findAdministratorsId(db: Db | Trx, vaultId: string): Promise<string> {
  const { id } = await db
    .selectFrom('policy_groups')
    .select('id')
    .where('vault_id', '=', vaultId)
    .where(isAdministrators('policy_groups'))
    .executeTakeFirstOrThrow()
  return id
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

type Uses = { hasPolicies: boolean; isApprover: boolean; isSelected: boolean }

/** The uses that prevent the deletion of a group. */
export async function groupUses(trx: Trx, { vaultId, id }: { vaultId: string; id: string }): Promise<Uses> {
  const { rows } = await sql<Uses>`
    select
      exists (select 1 from policies p where p.vault_id = ${vaultId} and p.group_id = ${id}) as "hasPolicies",
      exists (select 1 from policy_approvers a where a.vault_id = ${vaultId} and a.group_id = ${id})
        or exists (select 1 from category_approvers a where a.vault_id = ${vaultId} and a.group_id = ${id}) as "isApprover",
      ${isSelected(vaultId, 'initiatorGroup', id)} as "isSelected"`.execute(trx)
  return rows[0]!
}

/** Whether a rule of a policy of the vault, enabled or not, names this value with this selector. */
export async function isSelectedByPolicy(
  trx: Trx,
  vaultId: string,
  selectorType: SelectorType,
  value: string,
): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`select ${isSelected(vaultId, selectorType, value)} as is`.execute(trx)
  return rows[0]!.is
}

const isSelected = (vaultId: string, selectorType: SelectorType, value: string) => sql<boolean>`exists (
  select from policies p
  where p.vault_id = ${vaultId} and jsonb_path_exists(
    p.rules,
    '$[*].selectors[*] ? (@.selectorType == $type).value[*] ? (@ == $value)',
    jsonb_build_object('type', ${selectorType}::text, 'value', ${value}::text)
  ))`

const groupColumns = sql`
  g.vault_id as "vaultId", g.id, g.code, g.name, g.description, g.logo_uri as "logoUri", g.color, g.emoji,
  g.is_system as "isSystem", g.created_at as "createdAt", g.updated_at as "updatedAt"`

/**
 * Adds a user to groups of a vault; existing memberships stay unchanged. `everyone`, which is never stored, and groups
 * that the vault does not have are skipped. The caller writes the audit record.
 */
export async function insertMemberships(
  trx: Trx,
  { vaultId, groupIds, userId, now }: { vaultId: string; groupIds: string[]; userId: string; now: Date },
): Promise<void> {
  const ids = groupIds.map(() => newId(now))
  // In the order of the groups, so that two concurrent calls cannot deadlock.
  await sql`
    insert into policy_group_memberships (vault_id, id, group_id, user_id, created_at)
    select g.vault_id, n.id, g.id, ${userId}, ${now}
    from unnest(${ids}::text[], ${groupIds}::text[]) as n (id, group_id)
    join policy_groups g on g.vault_id = ${vaultId} and g.id = n.group_id
    where not ${isEveryone('g')}
    order by g.id
    on conflict (vault_id, group_id, user_id) do nothing`.execute(trx)
}

/** The vaults that a user is a member of. */
export async function listVaultIdsOf(db: Db | Trx, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('policy_group_memberships')
    .select('vault_id')
    .distinct()
    .where('user_id', '=', userId)
    .orderBy('vault_id')
    .execute()
  return rows.map((row) => row.vault_id)
}

/** The users of the list that are in any group of the vault. */
export async function listMembersAmong(db: Db | Trx, vaultId: string, userIds: string[]): Promise<Set<string>> {
  if (userIds.length === 0) return new Set()
  const { rows } = await sql<{ user_id: string }>`
    select distinct user_id from policy_group_memberships
    where vault_id = ${vaultId} and user_id = any(${userIds})`.execute(db)
  return new Set(rows.map(({ user_id }) => user_id))
}
