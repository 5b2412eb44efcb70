import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { sha256 } from '../../../lib/secrets.ts'
import type { RulesDocument } from './document-schema.ts'

/** The governance of a vault without governance settings: it is off. */
export const noGovernance = {
  threshold: 0,
  approverGroupId: null,
  looseningDelayHours: 0,
  tighteningDelayHours: 0,
} as const

/**
 * Reads the present rules of a vault. This document alone defines the rules: governance applies to every endpoint that
 * changes it.
 */
export async function readRules(db: Db | Trx, vaultId: string): Promise<RulesDocument> {
  const { rows } = await sql<Omit<RulesDocument, 'schemaVersion'>>`
    select ${governance(vaultId)} as governance, ${groups(vaultId)} as groups, ${policies(vaultId)} as policies,
      ${invitations(vaultId)} as invitations, ${categories(vaultId)} as categories, ${wallet(vaultId)} as wallet,
      ${tokens(vaultId)} as tokens, ${variants(vaultId)} as variants,
      ${serviceKeys(vaultId)} as "serviceKeys", ${categoryRights(vaultId)} as "categoryRights",
      ${folders(vaultId)} as folders`.execute(db)
  const { serviceKeys: keys, categoryRights: rights, folders: named, ...rules } = rows[0]!
  // An empty list is left out, so that the documents of vaults without such parts do not change.
  const rest = {
    ...unlessEmpty('serviceKeys', keys),
    ...unlessEmpty('categoryRights', rights),
    ...unlessEmpty('folders', named),
  }
  return { schemaVersion: 1, ...rules, ...rest, governance: rules.governance ?? noGovernance }
}

const unlessEmpty = <Name extends string, Item>(name: Name, items: Item[] | undefined) =>
  (items === undefined || items.length === 0 ? {} : { [name]: items }) as { [Key in Name]?: Item[] }

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
 * SQL: the wallet settings. A fingerprint is the mark of the sealed secret (lib/secrets.ts): random bytes from the time when
 * the secret was set, which reveal nothing and stay when the secret is sealed again. Protection is left out of the document of
 * a vault that is not protected, so that such documents do not change.
 */
const wallet = (vaultId: string) => sql`(
  select jsonb_build_object('url', v.wallet_service_url,
    'secretFingerprint', encode(substr(v.wallet_service_secret, 10, 8), 'hex'),
    'webhookSecretFingerprint', encode(substr(v.wallet_webhook_secret, 10, 8), 'hex'))
    || case v.protection when 'off' then '{}' else jsonb_build_object('protection', v.protection) end
  from vaults v where v.id = ${vaultId})`

const tokens = (vaultId: string) => sql`(
  select coalesce(json_agg(json_build_object('id', t.id, 'network', n.slug, 'code', t.code, 'symbol', t.symbol,
    'name', t.name, 'contractAddress', t.contract_address, 'decimals', t.decimals, 'dustLimit', t.dust_limit::text)
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

/**
 * SQL: the rights to declare each category, which decide the facts that policies see of an order. Fields appear here
 * because a required field or a hidden field can prevent a declaration; their labels are not rules.
 */
const categoryRights = (vaultId: string) => sql`(
  select coalesce(json_agg(json_build_object('id', c.id, 'key', c.key, 'appliesTo', c.applies_to, 'archived', c.archived,
    'viewScope', c.view_scope, 'assignScope', c.assign_scope, 'editScope', c.edit_scope,
    'requiredFields', ${fieldKeys(sql`f.required and f.default_json is null and not f.archived`)},
    'sensitiveFields', ${fieldKeys(sql`f.sensitive`)},
    'grants', (
      select coalesce(json_agg(json_build_object('subject', a.subject, 'canView', a.can_view, 'canAssign', a.can_assign,
        'canEdit', a.can_edit) order by a.subject collate "C"), '[]')
      from category_grants a where a.vault_id = c.vault_id and a.category_id = c.id)) order by c.key collate "C"), '[]')
  from operation_categories c where c.vault_id = ${vaultId})`

const fieldKeys = (which: RawBuilder<unknown>) => sql`(
  select coalesce(json_agg(f.key order by f.key collate "C"), '[]') from category_fields f
  where f.vault_id = c.vault_id and f.category_id = c.id and ${which})`

/** SQL: the folders that a rule of a policy names, with their addresses. Other folders do not affect decisions. */
const folders = (vaultId: string) => sql`(
  select coalesce(json_agg(json_build_object('id', g.id, 'name', g.name, 'addressIds', (
    select coalesce(json_agg(m.address_id order by m.address_id collate "C"), '[]') from address_group_members m
    where m.vault_id = g.vault_id and m.group_id = g.id)) order by g.id collate "C"), '[]')
  from address_groups g where g.vault_id = ${vaultId} and g.id in (select folders_of_rules(${vaultId})))`

/** SHA-256 of the canonical JSON. */
export const hashOfRules = (document: RulesDocument): Buffer => sha256(canonicalJson(document))
