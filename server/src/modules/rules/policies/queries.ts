import { type RawBuilder, sql } from 'kysely'
import { membershipOf } from '../../../access/memberships.ts'
import { isEveryone } from '../../../access/system-groups.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import type { Position } from '../../../lib/cursor.ts'
import type { PolicyEffect, PolicySnapshot, Rule } from './decision.ts'
import type { Facts, VelocitySum } from './facts.ts'
import { type VelocityWindow, velocityKeyOf } from './velocity.ts'

/** What the caller is in the vault that a row belongs to, read in the same statement as the row. */
export type Standing = { isMember: boolean; isAdmin: boolean }

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
/** The times inside of `policies` and `memberships` are what JSON makes of a timestamptz. */
export type GroupRow = GroupFields & {
  policies: {
    id: string
    code: string
    name: string
    actionType: string
    effect: PolicyEffect
    enabled: boolean
    createdAt: string
  }[]
  memberships: { id: string; userId: string; createdAt: string }[]
}
export type MembershipRow = { id: string; groupId: string; userId: string; createdAt: Date }

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
  actionType: string
  effect: PolicyEffect
  blockReason: string | null
  approvalThreshold: number
  adminBypass: boolean
  allowInitiatorApproval: boolean
  enabled: boolean
  rules: Rule[]
  createdAt: Date
  updatedAt: Date
  approvers: {
    id: string
    kind: 'user' | 'group'
    userId: string | null
    groupId: string | null
    createdAt: string
  }[]
  groupCode: string
  groupName: string
}

/** Whose groups and standing the policies look at; `groupIds` includes the built-in group `everyone`. */
export type Initiator = { userId: string; groupIds: string[]; isAdmin: boolean }

/** A member of the vault as an initiator; null when they are in no group of it any more, or disabled. */
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

/** Takes these advisory locks, in their order, until the transaction ends. */
export async function lockVelocity(trx: Trx, locks: bigint[]): Promise<void> {
  if (locks.length === 0) return
  const ids = locks.map(String)
  await sql`select pg_advisory_xact_lock(lock.id) from unnest(${ids}::bigint[]) as lock (id)`.execute(trx)
}

/**
 * What the transfers in these windows add up to that wait, run or are confirmed, the one that is decided on left out: one
 * round trip, in which every window is a range of the index of its scope. A scope that the facts do not tell is left out.
 */
export async function sumVelocity(
  db: Db | Trx,
  vaultId: string,
  windows: VelocityWindow[],
  facts: Facts,
): Promise<VelocitySum[]> {
  const parts = windows.flatMap((window) => {
    const key = velocityKeyOf(window.per, vaultId, facts)
    return key === null ? [] : [sumOfWindow(vaultId, window, key, facts)]
  })
  if (parts.length === 0) return []
  const { rows } = await sql<VelocitySum>`${sql.join(parts, sql` union all `)}`.execute(db)
  return rows
}

/** No upper bound: a request that began later may have committed first, and it counts. */
function sumOfWindow(
  vaultId: string,
  { per, windowSeconds }: VelocityWindow,
  key: string,
  { now, operationId, token }: Facts,
): RawBuilder<unknown> {
  const since = new Date(now.getTime() - windowSeconds * 1_000)
  const counted = {
    initiator: sql`operations o where o.initiator_id = ${key} and o.created_at > ${since}`,
    sourceAddress: sql`operations o where o.address_id = ${key} and o.created_at > ${since}`,
    vault: sql`operations o where o.created_at > ${since}`,
    destination: sql`transfers t join operations o on o.vault_id = t.vault_id and o.id = t.id
      where t.vault_id = ${vaultId} and t.to_address_key = ${key} and t.created_at > ${since}`,
  }[per]
  // The unit of a token is 1e-decimals, which is exact; a division would not be.
  return sql`
    select ${per}::text as per, ${windowSeconds}::int as "windowSeconds", coalesce(sum(c.count), 0)::int as count,
      trim_scale(coalesce(sum(c.raw * k.unit) filter (where c.token_id = ${token?.id ?? null}), 0))::text as amount,
      case when coalesce(sum(c.count - c.rated), 0) = 0
        then trim_scale(coalesce(sum(c.raw_usd * k.unit), 0))::text end as usd
    from (
      select o.token_id, count(*) as count, count(o.usd_rate) as rated, sum(o.amount) as raw,
        sum(o.amount * o.usd_rate) as raw_usd
      from ${counted} and o.vault_id = ${vaultId} and o.type = 'transfer'
        and o.status in ('awaiting_approval', 'pending', 'confirmed') and o.id is distinct from ${operationId ?? null}
      group by o.token_id
    ) c
    cross join lateral (select ('1e-' || t.decimals)::numeric as unit from tokens t where t.id = c.token_id) k`
}

export async function findGroup(
  db: Db | Trx,
  id: string,
  callerId: string,
): Promise<(GroupRow & Standing) | undefined> {
  const { rows } = await sql<GroupRow & Standing>`
    select ${groupColumns}, s.*, coalesce(p.policies, '[]') as policies, coalesce(m.memberships, '[]') as memberships
    from policy_groups g
    ${standingIn(sql`g.vault_id`, callerId)}
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
    where g.vault_id = ${vaultId} ${afterPosition(sql`(g.created_at, g.id)`, after)}
    order by g.created_at desc, g.id desc
    limit ${limit + 1}`.execute(db)
  return rows
}

export async function findPolicy(
  db: Db | Trx,
  id: string,
  callerId: string,
): Promise<(PolicyRow & Standing) | undefined> {
  const { rows } = await sql<PolicyRow & Standing>`
    select ${policyColumns}, s.*
    from policies p ${policyJoins} ${standingIn(sql`p.vault_id`, callerId)}
    where p.id = ${id}`.execute(db)
  return rows[0]
}

export type PolicyFilter = { actionType?: string; effect?: string; enabled?: boolean }

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
      ${afterPosition(sql`(p.created_at, p.id)`, after)}
    order by p.created_at desc, p.id desc
    limit ${limit + 1}`.execute(db)
  return rows
}

/**
 * Locks a group or policy until the transaction ends, if the caller administers its vault; nobody else can hold up
 * others. What it says must be read afterwards, in a statement of its own: one that waited still sees the old state.
 */
export async function lockForAdministrator(
  trx: Trx,
  table: 'policy_groups' | 'policies',
  id: string,
  callerId: string,
): Promise<void> {
  await sql`
    select 1 from ${sql.table(table)} t ${standingIn(sql`t.vault_id`, callerId)}
    where t.id = ${id} and s."isAdmin"
    for update of t`.execute(trx)
}

/** Which of these groups the vault has; they cannot be deleted until the transaction ends. */
export async function lockExistingGroups(trx: Trx, vaultId: string, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    select id from policy_groups where vault_id = ${vaultId} and id = any(${ids}) order by id for key share`.execute(
    trx,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Which of these folders the vault has; they cannot be deleted until the transaction ends. */
export async function lockExistingAddressGroups(trx: Trx, vaultId: string, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    select id from address_groups where vault_id = ${vaultId} and id = any(${ids}) order by id for key share`.execute(
    trx,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Which of these users are in any group of the vault. */
export async function listMembersAmong(db: Db | Trx, vaultId: string, userIds: string[]): Promise<Set<string>> {
  if (userIds.length === 0) return new Set()
  const { rows } = await sql<{ user_id: string }>`
    select distinct user_id from policy_group_memberships
    where vault_id = ${vaultId} and user_id = any(${userIds})`.execute(db)
  return new Set(rows.map(({ user_id }) => user_id))
}

const namedTypes = ['counterparty', 'counterpartyGroup', 'routeVariant', 'category', 'token', 'sourceAddress'] as const
type Names<Value> = Record<(typeof namedTypes)[number], Value>

/**
 * Which of these the vault has, by the selectors that name them: ids, `route/variant` by codes, keys of categories, tokens
 * by id or code, and addresses by id or key. None of them is ever deleted while addresses exist.
 */
export async function listNamedAmong(
  db: Db | Trx,
  vaultId: string,
  wanted: Names<string[]>,
): Promise<Names<Set<string>>> {
  const toSets = (names: Names<string[]>) =>
    Object.fromEntries(namedTypes.map((type) => [type, new Set(names[type])])) as Names<Set<string>>
  if (namedTypes.every((type) => wanted[type].length === 0)) return toSets(wanted)
  const { counterparty, counterpartyGroup, routeVariant, category, token, sourceAddress } = wanted
  const networks = sql`select network_id from vault_networks where vault_id = ${vaultId}`
  const { rows } = await sql<Names<string[]>>`
    select
      array(select id from counterparties where vault_id = ${vaultId} and id = any(${counterparty})) as counterparty,
      array(select id from counterparty_groups where vault_id = ${vaultId} and id = any(${counterpartyGroup}))
        as "counterpartyGroup",
      array(
        select r.code || '/' || v.code from routes r join variants v on v.vault_id = r.vault_id and v.route_id = r.id
        where r.vault_id = ${vaultId} and r.code || '/' || v.code = any(${routeVariant})
      ) as "routeVariant",
      array(select key from operation_categories where vault_id = ${vaultId} and key = any(${category})) as category,
      array(
        select unnest(array[id, code]) from tokens
        where network_id in (${networks}) and (id = any(${token}) or code = any(${token}))
      ) as token,
      array(
        select id from addresses where vault_id = ${vaultId} and id = any(${sourceAddress})
        union all
        select address_key from addresses
        where vault_id = ${vaultId} and network_id in (${networks}) and address_key = any(${sourceAddress})
      ) as "sourceAddress"`.execute(db)
  return toSets(rows[0]!)
}

/** Whether somebody who can sign in stays in the group when `leavingUserId` leaves it. */
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

/** What keeps a group from being deleted. */
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

/** Whether a rule of a policy of the vault, enabled or not, names this value with this selector. */
export async function isSelectedByPolicy(
  trx: Trx,
  vaultId: string,
  selectorType: string,
  value: string,
): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    select exists (
      select from policies p
      where p.vault_id = ${vaultId} and jsonb_path_exists(
        p.rules,
        '$[*].selectors[*] ? (@.selectorType == $type).value[*] ? (@ == $value)',
        jsonb_build_object('type', ${selectorType}::text, 'value', ${value}::text)
      )
    ) as is`.execute(trx)
  return rows[0]!.is
}

const groupColumns = sql`
  g.vault_id as "vaultId", g.id, g.code, g.name, g.description, g.logo_uri as "logoUri", g.color, g.emoji,
  g.is_system as "isSystem", g.created_at as "createdAt", g.updated_at as "updatedAt"`

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

/** Joins `s`: whether the caller is a member and an administrator of the vault. */
function standingIn(vaultId: RawBuilder<unknown>, callerId: string): RawBuilder<unknown> {
  return sql`
    cross join lateral (
      select is_member as "isMember", is_admin as "isAdmin" from ${membershipOf(vaultId, sql`${callerId}`)} own
    ) s`
}

function afterPosition(columns: RawBuilder<unknown>, after: Position | null): RawBuilder<unknown> {
  return after === null ? sql`` : sql`and ${columns} < (${after.createdAt}::timestamptz, ${after.id})`
}
