import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db, Trx } from '../../../db/client.ts'
import type { FieldFault } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { isFaultyAddress } from '../../../lib/onchain-address.ts'
import { findNetworksOfVaults, type NetworkOfVault } from '../../registry/networks/queries.ts'
import type { StoredRule } from '../decisions/decision.ts'
import { listGroupsAmong, listMembersAmong, lockExistingGroups } from '../policy-groups/memberships.ts'
import type { RouteVariant } from '../selectors/addresses.ts'
import { addressKeyOf, spellingKey } from '../selectors/selector.ts'
import { findSelectorFault, type SelectorType } from '../selectors/selectors.ts'
import type { Creation, PolicyDraft, UpdatePolicy } from './schema.ts'

export type PolicyChange = Static<typeof UpdatePolicy>
type RuleDraft = NonNullable<Creation['rules']>[number]
/** Exactly one of userId and groupId is set once `findPolicyFaults` found nothing. */
export type ApproverDraft = NonNullable<Creation['approvers']>[number]

export function draftOf(creation: Creation): PolicyDraft {
  return { ...defaults, ...creation }
}

/** The fields of a policy without its rules and approvers. */
export function settingsOf(policy: Omit<PolicyDraft, 'rules' | 'approvers'>): Omit<PolicyDraft, 'rules' | 'approvers'> {
  return {
    code: policy.code,
    name: policy.name,
    description: policy.description,
    logoUri: policy.logoUri,
    color: policy.color,
    emoji: policy.emoji,
    actionType: policy.actionType,
    effect: policy.effect,
    blockReason: policy.blockReason,
    approvalThreshold: policy.approvalThreshold,
    adminBypass: policy.adminBypass,
    allowInitiatorApproval: policy.allowInitiatorApproval,
    enabled: policy.enabled,
  }
}

/** The rules as they are stored, with ids. */
export function toRules(drafts: RuleDraft[], now: Date): StoredRule[] {
  return drafts.map(({ conditionType, selectors }) => ({
    id: newId(now),
    conditionType,
    createdAt: now.toISOString(),
    selectors: selectors.map(({ selectorType, value }) => ({ id: newId(now), selectorType, value })),
  }))
}

const defaults = {
  description: null,
  logoUri: null,
  color: null,
  emoji: null,
  blockReason: null,
  approvalThreshold: 0,
  adminBypass: false,
  allowInitiatorApproval: false,
  enabled: true,
  rules: [],
  approvers: [],
}

/** Returns the faults of a policy that its schema cannot express. References to other objects are checked elsewhere. */
export function findPolicyFaults(draft: PolicyDraft): FieldFault[] {
  return [
    ...findEffectFaults(draft),
    ...draft.approvers.flatMap((approver, i) => findApproverFaults(approver, i, draft.approvers)),
    ...draft.rules.flatMap((rule, i) => findRuleFaults(rule, i, draft.actionType)),
  ]
}

function findEffectFaults({ effect, approvalThreshold, approvers, blockReason }: PolicyDraft): FieldFault[] {
  const faults: FieldFault[] = []
  if (effect !== 'block' && blockReason !== null) {
    faults.push({ field: 'blockReason', message: 'is allowed only with the effect block' })
  }
  if (effect === 'block' && approvalThreshold > 0) {
    faults.push({ field: 'approvalThreshold', message: 'must be 0 for a policy that blocks' })
  }
  if (effect === 'requireApproval' && approvalThreshold < 1) {
    faults.push({ field: 'approvalThreshold', message: 'must be at least 1 for requireApproval' })
  }
  if (approvalThreshold === 0 && effect !== 'requireApproval' && approvers.length > 0) {
    faults.push({ field: 'approvers', message: 'require an approvalThreshold of at least 1' })
  }
  const ofGroups = approvers.reduce((sum, { threshold = 0 }) => sum + threshold, 0)
  if (ofGroups > approvalThreshold) {
    const message = `must not be below the sum of the thresholds of its groups, ${ofGroups}`
    faults.push({ field: 'approvalThreshold', message })
  }
  return faults
}

function findApproverFaults(approver: ApproverDraft, i: number, all: ApproverDraft[]): FieldFault[] {
  const { kind, userId, groupId } = approver
  const [wanted, stray] = kind === 'user' ? (['userId', 'groupId'] as const) : (['groupId', 'userId'] as const)
  if (approver[wanted] === undefined) return [{ field: `approvers.${i}.${wanted}`, message: 'is required' }]
  if (approver[stray] !== undefined) {
    return [{ field: `approvers.${i}.${stray}`, message: `does not belong to an approver of kind ${kind}` }]
  }
  if (kind === 'user' && approver.threshold !== undefined) {
    return [{ field: `approvers.${i}.threshold`, message: 'belongs to an approver of kind group' }]
  }
  const first = all.findIndex((other) => other.kind === kind && other.userId === userId && other.groupId === groupId)
  return first === i ? [] : [{ field: `approvers.${i}`, message: `is the same as approvers.${first}` }]
}

function findRuleFaults({ selectors }: RuleDraft, i: number, actionType: string): FieldFault[] {
  if (selectors.length === 0) return [{ field: `rules.${i}.selectors`, message: 'must name at least one selector' }]
  return selectors.flatMap(({ selectorType, value }, j) => {
    const fault = findSelectorFault(actionType, selectorType, value)
    return fault === null ? [] : [{ field: `rules.${i}.selectors.${j}.${fault.field}`, message: fault.message }]
  })
}

type Reference = { field: string; id: string }

/** Returns the values of selectors of this type with their paths. The form of the values was checked before. */
function selectorReferences({ rules = [] }: PolicyChange, wanted: SelectorType): Reference[] {
  return rules.flatMap(({ selectors }, i) =>
    selectors.flatMap(({ selectorType, value }, j) => {
      if (selectorType !== wanted) return []
      const field = `rules.${i}.selectors.${j}.value`
      if (!Array.isArray(value)) return [{ field, id: nameOf(wanted, value) }]
      return value.map((element, k) => ({ field: `${field}.${k}`, id: nameOf(wanted, element) }))
    }),
  )
}

/** A variant is named by two codes, which contain no `/`; an address may be in any spelling. */
function nameOf(selectorType: SelectorType, value: unknown): string {
  if (selectorType === 'routeVariant') {
    const { route, variant } = value as RouteVariant
    return `${route}/${variant}`
  }
  return selectorType === 'sourceAddress' ? spellingKey(String(value)) : String(value)
}

/** The groups or users that approvers refer to, with their paths. */
function approverReferences({ approvers = [] }: PolicyChange, key: 'groupId' | 'userId'): Reference[] {
  return approvers.flatMap(({ [key]: id }, i) => (id === undefined ? [] : [{ field: `approvers.${i}.${key}`, id }]))
}

/**
 * Locks the objects that a policy names, and returns the missing ones. They must exist when the policy is written, because a
 * block that names a misspelt token would never match. A later deletion does not make the policy invalid.
 */
export async function lockReferences(trx: Trx, vaultId: string, change: PolicyChange): Promise<FieldFault[]> {
  const groups = [...selectorReferences(change, 'initiatorGroup'), ...approverReferences(change, 'groupId')]
  await lockExistingGroups(trx, vaultId, idsOf(groups))
  await lockExistingGroups(trx, vaultId, idsOf(selectorReferences(change, 'addressGroup')), 'address_groups')
  return findMissingReferences(trx, vaultId, change)
}

/** As `lockReferences`, without locks, for a policy that is only tried. */
export async function findMissingReferences(
  db: Db | Trx,
  vaultId: string,
  change: PolicyChange,
): Promise<FieldFault[]> {
  const named = (selectorType: SelectorType) => selectorReferences(change, selectorType)
  const groups = [...named('initiatorGroup'), ...approverReferences(change, 'groupId')]
  const users = [...named('initiator'), ...approverReferences(change, 'userId')]
  const destinations = named('destination')
  const existingGroups = await listGroupsAmong(db, vaultId, idsOf(groups))
  const members = await listMembersAmong(db, vaultId, idsOf(users))
  const networks = await findNetworksOfVaults(db, [vaultId])
  const existing = await listNamedAmong(db, vaultId, named)
  return [
    ...missing(groups, existingGroups, 'is not a policy group of the vault'),
    ...missing(named('addressGroup'), existing.addressGroup, 'is not a folder of the vault'),
    ...missing(users, members, 'is not a member of the vault'),
    ...missing(named('network'), new Set(networks.map(({ slug }) => slug)), 'is not a network of the vault'),
    ...findUnpayable(change, destinations, networks),
    ...missing(named('token'), existing.token, 'is not a token of a network of the vault'),
    ...missing(named('sourceAddress'), existing.sourceAddress, 'is not an address of the vault'),
    ...missing(named('counterparty'), existing.counterparty, 'is not a counterparty of the vault'),
    ...missing(named('counterpartyGroup'), existing.counterpartyGroup, 'is not a counterparty group of the vault'),
    ...missing(named('routeVariant'), existing.routeVariant, 'is not a route and variant of the vault'),
    ...missing(named('category'), existing.category, 'is not an operation category of the vault'),
  ]
}

const mistyped = 'is mistyped: its checksum is wrong, or its case is mixed'

/**
 * Returns the faults of destinations that no network of the vault can pay, or no network that their rule requires: a policy that names
 * such a destination would never match it.
 */
function findUnpayable(
  { rules = [] }: PolicyChange,
  destinations: Reference[],
  networks: NetworkOfVault[],
): FieldFault[] {
  const required = rules.map(({ conditionType, selectors }) =>
    selectors.flatMap(({ selectorType, value }) =>
      conditionType === 'require' && selectorType === 'network' ? [[value].flat()] : [],
    ),
  )
  return destinations.flatMap(({ field, id: text }) => {
    const isFaulty = isFaultyAddress(text)
    // A network of unknown rules takes any text. A mistyped address of another network is hardly an address of such a network.
    const payable = networks.filter(({ type }) => addressKeyOf(text, type) !== null && !(isFaulty && type === 'other'))
    const named = required[Number(field.split('.')[1])] ?? []
    if (payable.length === 0)
      return [{ field, message: isFaulty ? mistyped : 'is not an address of a network of the vault' }]
    if (payable.some(({ slug }) => named.every((slugs) => slugs.includes(slug)))) return []
    return [{ field, message: 'is not an address of the network that the rule requires' }]
  })
}

function idsOf(references: Reference[]): string[] {
  return [...new Set(references.map(({ id }) => id))]
}

function missing(references: Reference[], existing: ReadonlySet<string>, message: string): FieldFault[] {
  return references.filter(({ id }) => !existing.has(id)).map(({ field }) => ({ field, message }))
}

const namedTypes = [
  'addressGroup',
  'counterparty',
  'counterpartyGroup',
  'routeVariant',
  'category',
  'token',
  'sourceAddress',
] as const satisfies SelectorType[]
type Names<Value> = Record<(typeof namedTypes)[number], Value>

/**
 * Returns the values that exist in the vault, by selector type: ids, `route/variant` by codes, keys of categories, tokens by id
 * or code, and addresses by id or key. Of these objects, only folders are ever deleted while the vault has addresses.
 */
async function listNamedAmong(
  db: Db | Trx,
  vaultId: string,
  named: (type: SelectorType) => Reference[],
): Promise<Names<Set<string>>> {
  const namesOf = <Value>(valuesOf: (type: (typeof namedTypes)[number]) => Value) =>
    Object.fromEntries(namedTypes.map((type) => [type, valuesOf(type)])) as Names<Value>
  const wanted = namesOf((type) => idsOf(named(type)))
  if (namedTypes.every((type) => wanted[type].length === 0)) return namesOf(() => new Set())
  const { addressGroup, counterparty, counterpartyGroup, routeVariant, category, token, sourceAddress } = wanted
  const networks = sql`select network_id from vault_networks where vault_id = ${vaultId}`
  const { rows } = await sql<Names<string[]>>`
    select
      array(select id from address_groups where vault_id = ${vaultId} and id = any(${addressGroup})) as "addressGroup",
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
  return namesOf((type) => new Set(rows[0]![type]))
}
