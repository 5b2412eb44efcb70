import type { ByCaller } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { onViolation } from '../../../db/transaction.ts'
import { conflict, faulty } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { changedFields } from '../../record/audit/record.ts'
import { announceVaultChange, nameSubjects, quote } from '../../record/notifications/announce.ts'
import { lockGroup } from '../policy-groups/queries.ts'
import {
  type ApproverDraft,
  findPolicyFaults,
  lockReferences,
  type PolicyChange,
  settingsOf,
  toRules,
} from './policy-draft.ts'
import { findPolicy, lockPolicy, type PolicyRow } from './queries.ts'
import type { PolicyDraft } from './schema.ts'

/** @throws 400 naming every fault, 404, 403, 409 when the vault has a policy of that code */
export async function createPolicy(
  trx: Trx,
  groupId: string,
  draft: PolicyDraft,
  { caller, now }: ByCaller,
): Promise<PolicyRow> {
  const { vaultId } = await lockGroup(trx, groupId, caller.userId)
  await assertSound(trx, vaultId, draft, draft)
  const id = newId(now)
  await trx
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
    .execute()
    .catch(onTakenCode)
  await insertApprovers(trx, { vaultId, policyId: id, approvers: draft.approvers, now })
  const created = (await findPolicy(trx, id, caller.userId))!
  const details = { groupId, after: draft }
  await announce(trx, created, { verb: 'created', details, voters: votersOf(draft, groupId) }, { caller, now })
  return created
}

/** Changes the fields that `change` names; rules and approvers are replaced as a whole. @throws as `createPolicy` */
export async function updatePolicy(
  trx: Trx,
  id: string,
  change: PolicyChange,
  { caller, now }: ByCaller,
): Promise<PolicyRow> {
  const policy = await lockPolicy(trx, id, caller.userId)
  const { vaultId } = policy
  const before = draftOfRow(policy)
  const after = { ...before, ...change }
  await assertSound(trx, vaultId, after, change)
  const details = changedFields(before, after)
  if (details === null) return policy
  await trx
    .updateTable('policies')
    .set({
      ...columnsOf(after),
      ...(change.rules === undefined ? {} : { rules: JSON.stringify(toRules(change.rules, now)) }),
      updated_at: now,
    })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .execute()
    .catch(onTakenCode)
  if (change.approvers !== undefined) {
    await trx.deleteFrom('policy_approvers').where('vault_id', '=', vaultId).where('policy_id', '=', id).execute()
    await insertApprovers(trx, { vaultId, policyId: id, approvers: change.approvers, now })
  }
  const voters = [...votersOf(before, policy.groupId), ...votersOf(after, policy.groupId)]
  await announce(trx, policy, { verb: 'updated', details, voters }, { caller, now })
  return (await findPolicy(trx, id, caller.userId))!
}

/** Deletes a policy; decisions that were made with it keep a copy. @throws 404, 403 */
export async function deletePolicy(trx: Trx, id: string, { caller, now }: ByCaller): Promise<void> {
  const policy = await lockPolicy(trx, id, caller.userId)
  const { vaultId, groupId } = policy
  await trx.deleteFrom('policies').where('vault_id', '=', vaultId).where('id', '=', id).execute()
  const before = draftOfRow(policy)
  const details = { groupId, before }
  await announce(trx, policy, { verb: 'deleted', details, voters: votersOf(before, groupId) }, { caller, now })
}

/** Checks a policy. Only references in `change`, the fields of the request, must name existing objects. */
async function assertSound(trx: Trx, vaultId: string, draft: PolicyDraft, change: PolicyChange): Promise<void> {
  const faults = findPolicyFaults(draft)
  if (faults.length > 0) throw faulty(faults)
  const dangling = await lockReferences(trx, vaultId, change)
  if (dangling.length > 0) throw faulty(dangling)
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

export function draftOfRow(row: Pick<PolicyRow, keyof PolicyDraft>): PolicyDraft {
  return {
    ...settingsOf(row),
    rules: row.rules.map(({ conditionType, selectors }) => ({
      conditionType,
      selectors: selectors.map(({ selectorType, value }) => ({ selectorType, value })),
    })),
    approvers: row.approvers.map(
      ({ kind, userId, groupId, threshold }): ApproverDraft =>
        userId === null ? { kind, groupId: groupId!, ...(threshold === null ? {} : { threshold }) } : { kind, userId },
    ),
  }
}

async function insertApprovers(
  trx: Trx,
  { vaultId, policyId, approvers, now }: { vaultId: string; policyId: string; approvers: ApproverDraft[]; now: Date },
): Promise<void> {
  // Ascending ids keep the approvers in the order of the request.
  const ids = approvers.map(() => newId(now)).sort()
  const ofPolicy = { vault_id: vaultId, policy_id: policyId, created_at: now }
  const rows = approvers.map(({ kind, userId = null, groupId = null, threshold = null }, i) => {
    return { ...ofPolicy, id: ids[i]!, kind, user_id: userId, group_id: groupId, threshold }
  })
  await insertRows(trx, { policy_approvers: rows })
}

const onTakenCode = onViolation('policies_vault_id_code_key', () =>
  conflict('already_exists', 'The vault already has a policy with this code'),
)

type Change = {
  verb: 'created' | 'updated' | 'deleted'
  details: { groupId?: string; before?: Partial<PolicyDraft>; after?: Partial<PolicyDraft> }
  /** The approvers of the policy before and after the change. */
  voters: Voter[]
}

async function announce(
  trx: Trx,
  { vaultId, id, name }: PolicyRow,
  { verb, details, voters }: Change,
  { caller, now }: ByCaller,
): Promise<void> {
  const { before, after } = details
  const nameOf = await nameSubjects(trx, vaultId, [...idsOfApprovers(before), ...idsOfApprovers(after)])
  const inWords = (fields?: Partial<PolicyDraft>) =>
    fields?.approvers === undefined
      ? fields
      : { ...fields, approvers: fields.approvers.map((approver) => wordsOf(approver, nameOf)) }
  await announceVaultChange(
    trx,
    {
      vaultId,
      actorId: caller.userId,
      action: `policy.${verb}`,
      targetType: 'policy',
      targetId: id,
      details,
      words: {
        sentence: `The policy ${quote(name)} was ${verb}`,
        before: inWords(before),
        after: inWords(after),
      },
      now,
    },
    {
      userIds: voters.flatMap(({ userId }) => userId ?? []),
      groupIds: voters.flatMap(({ groupId }) => groupId ?? []),
    },
  )
}

function wordsOf({ userId, groupId, threshold }: ApproverDraft, nameOf: (id: string) => string): string {
  const name = nameOf((userId ?? groupId)!)
  return threshold === undefined ? name : `${threshold} of ${name}`
}

const idsOfApprovers = (fields?: Partial<PolicyDraft>) =>
  fields?.approvers?.map(({ userId, groupId }) => userId ?? groupId!) ?? []

type Voter = Pick<ApproverDraft, 'userId' | 'groupId'>

/** If a policy that requires votes names no approvers, its group votes. */
function votersOf({ approvers, approvalThreshold }: PolicyDraft, groupId: string): Voter[] {
  return approvers.length === 0 && approvalThreshold > 0 ? [{ groupId }] : approvers
}
