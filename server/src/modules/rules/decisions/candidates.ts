import { type RawBuilder, sql } from 'kysely'
import { isEveryone, membershipOf } from '../../../access/memberships.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import type { InitiatorKind } from '../selectors/facts.ts'
import type { PolicySnapshot } from './decision.ts'

/** The initiator with the groups that policies check; `groupIds` includes the built-in group `everyone`. */
export type Initiator = { userId: string; kind: InitiatorKind; groupIds: string[]; isAdmin: boolean }
type InitiatorRow = Initiator & { isAuditor: boolean }

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

/** SQL: JSON of `listCandidates`, to be a column of another statement. */
export const candidatesColumn = (vaultId: string, actionType: string, groupIds: string[]): RawBuilder<unknown> => sql`
  (select coalesce(json_agg(c), '[]') from (${candidates(vaultId, groupIds, sql`p.action_type = ${actionType}`)}) c)`

export function candidates(
  vaultId: string,
  groupIds: string[],
  condition: RawBuilder<unknown>,
): RawBuilder<PolicySnapshot> {
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

export type DraftPolicy = PolicySnapshot & { enabled: boolean }

/** Beside or in place of the saved policies. */
export const draftModes = ['replace', 'add'] as const

/** Policies that are not saved, to be tried in place of the saved ones or beside them. */
export type Drafts = { mode: (typeof draftModes)[number]; policies: DraftPolicy[] }

/** The candidates as if the drafts were in force; `saved` are those among the saved policies. */
export function candidatesUnder(
  { mode, policies }: Drafts,
  saved: PolicySnapshot[],
  { actionType, groupIds }: { actionType: string; groupIds: string[] },
): PolicySnapshot[] {
  const codes = new Set(policies.map(({ code }) => code))
  const kept = mode === 'replace' ? [] : saved.filter(({ code }) => !codes.has(code))
  const tried = policies.filter(
    (policy) => policy.enabled && policy.actionType === actionType && groupIds.includes(policy.groupId),
  )
  return [...kept, ...tried.map(({ enabled: _, ...policy }) => policy)].toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

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
