import { type RawBuilder, sql } from 'kysely'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { keptPoliciesLengthMax } from '../../../lib/limits.ts'
import type { PolicySnapshot } from './decision.ts'

/** The enabled policies of a vault for an action, in one state of the rules. */
type Policies = { state: string; policies: PolicySnapshot[]; length: number }

/**
 * The answer of a statement that asks for policies: the state of the rules, and the policies as text. The text is null when
 * the policies of this state are in memory. `state` is null in a vault that never had a policy.
 */
export type SentPolicies = { state: string | null; policies: string | null }

/**
 * The policies in the memory of this process, by vault and action. Every answer of the database names the state of the rules,
 * so that outdated policies are not used. The least recently used entries are dropped when the total length of the texts
 * exceeds the limit.
 */
export function createKeptPolicies(lengthMax: number) {
  const kept = new Map<string, Policies>()
  let length = 0
  const forget = (key: string) => {
    length -= kept.get(key)?.length ?? 0
    kept.delete(key)
  }
  return {
    find(key: string): Policies | null {
      const found = kept.get(key)
      if (found === undefined) return null
      // A Map is in the order of its insertions.
      kept.delete(key)
      kept.set(key, found)
      return found
    },
    keep(key: string, policies: Policies): void {
      forget(key)
      if (policies.length > lengthMax) return
      kept.set(key, { ...policies, policies: frozen(policies.policies) })
      length += policies.length
      for (const oldest of kept.keys()) {
        if (length <= lengthMax) return
        forget(oldest)
      }
    },
    length: () => length,
  }
}

/** Freezes policies, because many decisions share them. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}

const keptPolicies = createKeptPolicies(keptPoliciesLengthMax)

/** A question for the policies of an action: a column for any statement, and the function that reads its answer. */
export type AskedPolicies = {
  /** SQL: JSON of SentPolicies. */
  column: RawBuilder<SentPolicies>
  /** The policies in these groups, ordered by id. */
  read(sent: SentPolicies, groupIds: string[]): PolicySnapshot[]
}

export function askPolicies(vaultId: string, actionType: string): AskedPolicies {
  const key = `${vaultId} ${actionType}`
  const known = keptPolicies.find(key)
  const ofAction = candidates(vaultId, sql`p.action_type = ${actionType}`)
  return {
    column: sql<SentPolicies>`(
      select json_build_object('state', s.state, 'policies', case when s.state = ${known?.state ?? null}::text then null
        else (select coalesce(json_agg(c), '[]')::text from (${ofAction}) c) end)
      from (select (select h.revision || ' ' || h.number from rules_heads h where h.vault_id = ${vaultId}) as state) s)`,
    read({ state, policies: text }, groupIds) {
      const policies = text === null ? known!.policies : (JSON.parse(text) as PolicySnapshot[])
      if (text !== null && state !== null) keptPolicies.keep(key, { state, policies, length: text.length })
      return policies.filter(({ groupId }) => groupIds.includes(groupId))
    },
  }
}

/** Returns the enabled policies of an action in these groups, ordered by id, with their explicit approvers. */
export async function listCandidates(
  db: Db | Trx,
  vaultId: string,
  actionType: string,
  groupIds: string[],
): Promise<PolicySnapshot[]> {
  const query = askPolicies(vaultId, actionType)
  const { rows } = await sql<{ sent: SentPolicies }>`${prepared} select ${query.column} as sent`.execute(db)
  return query.read(rows[0]!.sent, groupIds)
}

/** Returns the enabled policies of all actions in these groups, ordered by id. */
export async function listAllCandidates(db: Db | Trx, vaultId: string, groupIds: string[]): Promise<PolicySnapshot[]> {
  const { rows } = await candidates(vaultId, sql`p.group_id = any(${groupIds})`).execute(db)
  return rows
}

function candidates(vaultId: string, condition: RawBuilder<unknown>): RawBuilder<PolicySnapshot> {
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
    where p.vault_id = ${vaultId} and ${condition} and p.enabled
    order by p.id collate "C"`
}
