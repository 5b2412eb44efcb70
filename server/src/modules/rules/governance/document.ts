import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { sha256 } from '../../../lib/secrets.ts'
import type { RulesDocument } from './document-schema.ts'

/** Rules that nobody decided: governance is off. */
export const noGovernance = {
  threshold: 0,
  approverGroupId: null,
  looseningDelayHours: 0,
  tighteningDelayHours: 0,
} as const

/**
 * The rules of a vault as they are now. It is the only place that says what belongs to them: what changes this document is
 * governed, whichever endpoint does it.
 */
export async function readRules(db: Db | Trx, vaultId: string): Promise<RulesDocument> {
  const { rows } = await sql<Omit<RulesDocument, 'schemaVersion'>>`
    select ${governance(vaultId)} as governance, ${groups(vaultId)} as groups, ${policies(vaultId)} as policies,
      ${invitations(vaultId)} as invitations, ${categories(vaultId)} as categories, ${wallet(vaultId)} as wallet,
      ${tokens(vaultId)} as tokens, ${variants(vaultId)} as variants,
      ${serviceKeys(vaultId)} as "serviceKeys"`.execute(db)
  const { serviceKeys: keys, ...rules } = rows[0]!
  // Left out when there are none, so that the document of a vault without any is what it always was.
  const named = keys === undefined || keys.length === 0 ? {} : { serviceKeys: keys }
  return { schemaVersion: 1, ...rules, ...named, governance: rules.governance ?? noGovernance }
}

const governance = (vaultId: string) => sql`(
  select json_build_object('threshold', threshold, 'approverGroupId', approver_group_id,
    'looseningDelayHours', loosening_delay_hours, 'tighteningDelayHours', tightening_delay_hours)
  from governance where vault_id = ${vaultId})`

const groups = (vaultId: string) => sql`(
  select coalesce(json_agg(json_build_object('id', g.id, 'code', g.code, 'name', g.name, 'description', g.description,
    'isSystem', g.is_system, 'members', (
      select coalesce(json_agg(m.user_id order by m.user_id collate "C"), '[]') from policy_group_memberships m
      where m.vault_id = g.vault_id and m.group_id = g.id)) order by g.code collate "C"), '[]')
  from policy_groups g where g.vault_id = ${vaultId})`

const policies = (vaultId: string) => sql`(
  select coalesce(json_agg(json_build_object('id', p.id, 'groupId', p.group_id, 'code', p.code, 'name', p.name,
    'description', p.description, 'actionType', p.action_type, 'effect', p.effect, 'blockReason', p.block_reason,
    'approvalThreshold', p.approval_threshold, 'adminBypass', p.admin_bypass,
    'allowInitiatorApproval', p.allow_initiator_approval, 'enabled', p.enabled,
    'rules', (
      select coalesce(json_agg(json_build_object('conditionType', r.rule->'conditionType', 'selectors', (
        select coalesce(json_agg(json_build_object('selectorType', s.one->'selectorType', 'value', s.one->'value')
          order by s.position), '[]')
        from jsonb_array_elements(r.rule->'selectors') with ordinality s(one, position))) order by r.position), '[]')
      from jsonb_array_elements(p.rules) with ordinality r(rule, position)),
    'approvers', (
      select coalesce(json_agg(json_build_object('kind', a.kind, 'id', coalesce(a.user_id, a.group_id), 'threshold', a.threshold)
        order by a.kind, coalesce(a.user_id, a.group_id) collate "C"), '[]')
      from policy_approvers a where a.vault_id = p.vault_id and a.policy_id = p.id)) order by p.code collate "C"), '[]')
  from policies p where p.vault_id = ${vaultId})`

const invitations = (vaultId: string) => sql`(
  select coalesce(json_agg(json_build_object('email', i.email, 'groupIds', (
    select coalesce(json_agg(g.group_id order by g.group_id collate "C"), '[]') from invitation_groups g
    where g.vault_id = i.vault_id and g.invitation_id = i.id)) order by i.email collate "C"), '[]')
  from invitations i where i.vault_id = ${vaultId} and i.status = 'pending')`

const categories = (vaultId: string) => sql`(
  select coalesce(json_agg(json_build_object('id', c.id, 'key', c.key, 'approvalScope', c.approval_scope,
    'approvalThreshold', c.approval_threshold, 'allowInitiatorApproval', c.allow_initiator_approval, 'approvers', (
      select coalesce(json_agg(json_build_object('kind', a.kind, 'id', coalesce(a.user_id, a.group_id))
        order by a.kind, coalesce(a.user_id, a.group_id) collate "C"), '[]')
      from category_approvers a where a.vault_id = c.vault_id and a.category_id = c.id)) order by c.key collate "C"), '[]')
  from operation_categories c where c.vault_id = ${vaultId} and c.approval_scope <> 'none')`

/**
 * A fingerprint is the mark of the sealed secret (lib/secrets.ts): random bytes that it gets when it is set, so they tell nothing
 * about it, and that it keeps when it is sealed again. Without protection nothing is said of it, so that the document of a vault
 * that has none is what it always was.
 */
const wallet = (vaultId: string) => sql`(
  select jsonb_build_object('url', v.wallet_service_url,
    'secretFingerprint', encode(substr(v.wallet_service_secret, 10, 8), 'hex'),
    'webhookSecretFingerprint', encode(substr(v.wallet_webhook_secret, 10, 8), 'hex'))
    || case v.protection when 'off' then '{}' else jsonb_build_object('protection', v.protection) end
  from vaults v where v.id = ${vaultId})`

const tokens = (vaultId: string) => sql`(
  select coalesce(json_agg(json_build_object('id', t.id, 'network', n.slug, 'code', t.code)
    order by n.slug collate "C", t.code collate "C"), '[]')
  from vault_networks vn join networks n on n.id = vn.network_id join tokens t on t.network_id = n.id and t.enabled
  where vn.vault_id = ${vaultId} and not exists (
    select from withheld_tokens w where w.vault_id = vn.vault_id and w.token_id = t.id))`

const variants = (vaultId: string) => sql`(
  select coalesce(json_agg(json_build_object('id', v.id, 'route', r.code, 'code', v.code, 'pathId', v.path_id,
    'name', v.name, 'enabled', v.enabled, 'tokenId', v.token_id) order by r.code collate "C", v.path_id), '[]')
  from variants v join routes r on r.vault_id = v.vault_id and r.id = v.route_id where v.vault_id = ${vaultId})`

const serviceKeys = (vaultId: string) => sql`(
  select coalesce(json_agg(json_build_object('id', s.id, 'userId', s.user_id, 'name', s.name,
    'fingerprint', encode(sha256(s.public_key), 'hex')) order by s.id collate "C"), '[]')
  from service_keys s where s.vault_id = ${vaultId} and s.revoked_at is null)`

/** SHA-256 of the canonical JSON. */
export const hashOfRules = (document: RulesDocument): Buffer => sha256(canonicalJson(document))
