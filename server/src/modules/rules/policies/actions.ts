import type { Trx } from '../../../db/client.ts'
import { violates } from '../../../db/transaction.ts'
import { conflict, type FieldFault, faulty } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { changedFields } from '../../record/audit/changed-fields.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { quote } from '../../record/notifications/describe-change.ts'
import { nameSubjects } from '../../record/notifications/names.ts'
import { findNetworksOfVaults } from '../../registry/networks/queries.ts'
import type { Rule } from './decision.ts'
import {
  type ApproverDraft,
  approverReferences,
  findPolicyFaults,
  type PolicyChange,
  type PolicyDraft,
  type Reference,
  type RuleDraft,
  selectorReferences,
} from './policy-draft.ts'
import {
  findGroup,
  findPolicy,
  listMembersAmong,
  listNamedAmong,
  lockExistingAddressGroups,
  lockExistingGroups,
  lockForAdministrator,
  type PolicyRow,
} from './queries.ts'
import { addressKeyOf } from './selectors/address-keys.ts'
import { assertWritable } from './standing.ts'

/** @throws 400 naming every fault, 409 when the vault has a policy of that code */
export async function createPolicy(
  trx: Trx,
  order: { groupId: string; actorId: string; draft: PolicyDraft; now: Date },
): Promise<PolicyRow> {
  const { groupId, actorId, draft, now } = order
  await lockForAdministrator(trx, 'policy_groups', groupId, actorId)
  const { vaultId } = assertWritable(await findGroup(trx, groupId, actorId), 'Policy group')
  await assertSound(trx, vaultId, draft, draft)
  const id = newId(now)
  await onTakenCode(
    trx
      .insertInto('policies')
      .values({
        vault_id: vaultId,
        id,
        group_id: groupId,
        ...columnsOf(draft),
        rules: JSON.stringify(toRules(draft.rules, now)),
        created_at: now,
        updated_at: now,
      })
      .execute(),
  )
  await insertApprovers(trx, { vaultId, policyId: id, approvers: draft.approvers, now })
  await record(trx, {
    vaultId,
    actorId,
    verb: 'created',
    policyId: id,
    name: draft.name,
    details: { groupId, after: draft },
    voters: votersOf(draft, groupId),
    now,
  })
  return (await findPolicy(trx, id, actorId))!
}

/** Changes what `change` names and leaves the rest; rules and approvers are replaced whole. @throws as `createPolicy` */
export async function updatePolicy(
  trx: Trx,
  order: { id: string; actorId: string; change: PolicyChange; now: Date },
): Promise<PolicyRow> {
  const { id, actorId, change, now } = order
  const policy = await getPolicyToWrite(trx, id, actorId)
  const { vaultId } = policy
  const before = draftOfRow(policy)
  const after = { ...before, ...change }
  await assertSound(trx, vaultId, after, change)
  const changes = changedFields(before, after)
  if (changes === null) return policy
  await onTakenCode(
    trx
      .updateTable('policies')
      .set({
        ...columnsOf(after),
        ...(change.rules === undefined ? {} : { rules: JSON.stringify(toRules(change.rules, now)) }),
        updated_at: now,
      })
      .where('vault_id', '=', vaultId)
      .where('id', '=', id)
      .execute(),
  )
  if (change.approvers !== undefined) {
    await trx.deleteFrom('policy_approvers').where('vault_id', '=', vaultId).where('policy_id', '=', id).execute()
    await insertApprovers(trx, { vaultId, policyId: id, approvers: change.approvers, now })
  }
  await record(trx, {
    vaultId,
    actorId,
    verb: 'updated',
    policyId: id,
    name: policy.name,
    details: changes,
    voters: [...votersOf(before, policy.groupId), ...votersOf(after, policy.groupId)],
    now,
  })
  return (await findPolicy(trx, id, actorId))!
}

/** Deletes a policy; what it decided keeps its own copy of it. */
export async function deletePolicy(trx: Trx, order: { id: string; actorId: string; now: Date }): Promise<void> {
  const { id, actorId, now } = order
  const policy = await getPolicyToWrite(trx, id, actorId)
  const { vaultId, groupId } = policy
  await trx.deleteFrom('policies').where('vault_id', '=', vaultId).where('id', '=', id).execute()
  const before = draftOfRow(policy)
  await record(trx, {
    vaultId,
    actorId,
    verb: 'deleted',
    policyId: id,
    name: policy.name,
    details: { groupId, before },
    voters: votersOf(before, groupId),
    now,
  })
}

async function getPolicyToWrite(trx: Trx, id: string, actorId: string): Promise<PolicyRow> {
  await lockForAdministrator(trx, 'policies', id, actorId)
  return assertWritable(await findPolicy(trx, id, actorId), 'Policy')
}

/** `given` is what the caller named: only that is held against who and what exists now. */
async function assertSound(trx: Trx, vaultId: string, draft: PolicyDraft, given: PolicyChange): Promise<void> {
  const faults = findPolicyFaults(draft)
  if (faults.length > 0) throw faulty(faults)
  const dangling = await findMissingReferences(trx, vaultId, given)
  if (dangling.length > 0) throw faulty(dangling)
}

/**
 * What a policy names must be there when it is written: a block that names a misspelt token would never match. What
 * disappears later does no harm to the policies that name it.
 */
async function findMissingReferences(trx: Trx, vaultId: string, given: PolicyChange): Promise<FieldFault[]> {
  const named = (selectorType: string) => selectorReferences(given, selectorType)
  const groups = [...named('initiatorGroup'), ...approverReferences(given, 'groupId')]
  const users = [...named('initiator'), ...approverReferences(given, 'userId')]
  const addressGroups = named('addressGroup')
  const destinations = named('destination')
  const existingGroups = await lockExistingGroups(trx, vaultId, idsOf(groups))
  const existingAddressGroups = await lockExistingAddressGroups(trx, vaultId, idsOf(addressGroups))
  const members = await listMembersAmong(trx, vaultId, idsOf(users))
  const networks = await findNetworksOfVaults(trx, [vaultId])
  const payable = idsOf(destinations).filter((text) => networks.some(({ type }) => addressKeyOf(text, type) !== null))
  const existing = await listNamedAmong(trx, vaultId, {
    counterparty: idsOf(named('counterparty')),
    counterpartyGroup: idsOf(named('counterpartyGroup')),
    routeVariant: idsOf(named('routeVariant')),
    category: idsOf(named('category')),
    token: idsOf(named('token')),
    sourceAddress: idsOf(named('sourceAddress')),
  })
  return [
    ...missing(groups, existingGroups, 'is no policy group of the vault'),
    ...missing(addressGroups, existingAddressGroups, 'is no address group of the vault'),
    ...missing(users, members, 'is no member of the vault'),
    ...missing(named('network'), new Set(networks.map(({ slug }) => slug)), 'is no network of the vault'),
    ...missing(destinations, new Set(payable), 'is no address of a network of the vault'),
    ...missing(named('token'), existing.token, 'is no token of a network of the vault'),
    ...missing(named('sourceAddress'), existing.sourceAddress, 'is no address of the vault'),
    ...missing(named('counterparty'), existing.counterparty, 'is no counterparty of the vault'),
    ...missing(named('counterpartyGroup'), existing.counterpartyGroup, 'is no counterparty group of the vault'),
    ...missing(named('routeVariant'), existing.routeVariant, 'is no route and variant of the vault'),
    ...missing(named('category'), existing.category, 'is no operation category of the vault'),
  ]
}

function idsOf(references: Reference[]): string[] {
  return [...new Set(references.map(({ id }) => id))]
}

function missing(references: Reference[], existing: ReadonlySet<string>, message: string): FieldFault[] {
  return references.filter(({ id }) => !existing.has(id)).map(({ field }) => ({ field, message }))
}

function columnsOf(draft: PolicyDraft) {
  return {
    code: draft.code,
    name: draft.name,
    description: draft.description,
    logo_uri: draft.logoUri,
    color: draft.color,
    emoji: draft.emoji,
    action_type: draft.actionType,
    effect: draft.effect,
    block_reason: draft.blockReason,
    approval_threshold: draft.approvalThreshold,
    admin_bypass: draft.adminBypass,
    allow_initiator_approval: draft.allowInitiatorApproval,
    enabled: draft.enabled,
  }
}

function draftOfRow(row: PolicyRow): PolicyDraft {
  return {
    code: row.code,
    name: row.name,
    description: row.description,
    logoUri: row.logoUri,
    color: row.color,
    emoji: row.emoji,
    actionType: row.actionType as PolicyDraft['actionType'],
    effect: row.effect,
    blockReason: row.blockReason,
    approvalThreshold: row.approvalThreshold,
    adminBypass: row.adminBypass,
    allowInitiatorApproval: row.allowInitiatorApproval,
    enabled: row.enabled,
    rules: row.rules.map(({ conditionType, selectors }) => ({
      conditionType: conditionType as RuleDraft['conditionType'],
      selectors: selectors.map(({ selectorType, value }) => ({ selectorType, value })),
    })),
    approvers: row.approvers.map(
      ({ kind, userId, groupId }): ApproverDraft => (userId === null ? { kind, groupId: groupId! } : { kind, userId }),
    ),
  }
}

function toRules(drafts: RuleDraft[], now: Date): Rule[] {
  return drafts.map(({ conditionType, selectors }) => ({
    id: newId(now),
    conditionType,
    createdAt: now.toISOString(),
    selectors: selectors.map(({ selectorType, value }) => ({ id: newId(now), selectorType, value })),
  }))
}

async function insertApprovers(
  trx: Trx,
  { vaultId, policyId, approvers, now }: { vaultId: string; policyId: string; approvers: ApproverDraft[]; now: Date },
): Promise<void> {
  if (approvers.length === 0) return
  // Sorted ids keep the approvers in the order in which they were named.
  const ids = approvers.map(() => newId(now)).sort()
  await trx
    .insertInto('policy_approvers')
    .values(
      approvers.map(({ kind, userId, groupId }, i) => ({
        vault_id: vaultId,
        id: ids[i]!,
        policy_id: policyId,
        kind,
        user_id: userId ?? null,
        group_id: groupId ?? null,
        created_at: now,
      })),
    )
    .execute()
}

async function onTakenCode<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (violates(error, 'policies_vault_id_code_key')) throw conflict('The vault has a policy of this code already')
    throw error
  }
}

type Fields = Partial<PolicyDraft>

type PolicyEvent = {
  vaultId: string
  actorId: string
  verb: 'created' | 'updated' | 'deleted'
  policyId: string
  /** The name that it had before the change. */
  name: string
  details: { groupId?: string; before?: Fields; after?: Fields }
  /** Who votes under the policy, or did until now. */
  voters: Voters
  now: Date
}

async function record(trx: Trx, { policyId, verb, name, voters, ...event }: PolicyEvent): Promise<void> {
  const { before, after } = event.details
  const idsOfApprovers = (fields?: Fields) => fields?.approvers?.map(({ userId, groupId }) => userId ?? groupId!) ?? []
  const nameOf = await nameSubjects(trx, event.vaultId, [...idsOfApprovers(before), ...idsOfApprovers(after)])
  const inWords = (fields?: Fields) =>
    fields?.approvers === undefined ? fields : { ...fields, approvers: idsOfApprovers(fields).map(nameOf) }
  await announceVaultChange(
    trx,
    {
      ...event,
      action: `policy.${verb}`,
      targetType: 'policy',
      targetId: policyId,
      words: {
        sentence: `The policy ${quote(name)} was ${verb}`,
        before: inWords(before),
        after: inWords(after),
      },
    },
    {
      userIds: voters.flatMap(({ userId }) => userId ?? []),
      groupIds: voters.flatMap(({ groupId }) => groupId ?? []),
    },
  )
}

type Voters = Pick<ApproverDraft, 'userId' | 'groupId'>[]

/** Where a policy that asks for votes names nobody, its group votes. */
function votersOf({ approvers, approvalThreshold }: PolicyDraft, groupId: string): Voters {
  return approvers.length === 0 && approvalThreshold > 0 ? [{ groupId }] : approvers
}
