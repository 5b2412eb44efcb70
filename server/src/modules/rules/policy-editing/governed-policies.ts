import type { ByCaller, ByMember } from '../../../access/caller.ts'
import { Closed } from '../../../http/schema.ts'
import { governedAction } from '../change-sets/governed-actions.ts'
import { createPolicy, deletePolicy, updatePolicy } from '../policies/actions.ts'
import { draftOf } from '../policies/policy-draft.ts'
import { CreatePolicy, UpdatePolicy } from '../policies/schema.ts'
import {
  addMember,
  createPolicyGroup,
  deletePolicyGroup,
  removeFromVault,
  removeMember,
  updatePolicyGroup,
} from '../policy-groups/actions.ts'
import { AddMember, CreatePolicyGroup, UpdatePolicyGroup } from '../policy-groups/schema.ts'

/** Policies, policy groups and memberships as governed actions. */
export const policyActions = {
  policy_group_create: governedAction(
    { operationId: 'createPolicyGroup', target: null, schema: CreatePolicyGroup },
    async (trx, { payload }, by) => (await createPolicyGroup(trx, payload, by)).id,
  ),
  policy_group_update: governedAction(
    { operationId: 'updatePolicyGroup', target: 'policy group', schema: UpdatePolicyGroup },
    async (trx, { targetId, payload }, by) => (await updatePolicyGroup(trx, targetId, payload, byCaller(by))).id,
  ),
  policy_group_delete: governedAction(
    { operationId: 'deletePolicyGroup', target: 'policy group', schema: Closed({}) },
    async (trx, { targetId }, by) => {
      await deletePolicyGroup(trx, targetId, byCaller(by))
      return targetId
    },
  ),
  policy_group_member_add: governedAction(
    { operationId: 'addPolicyGroupMember', target: 'policy group', schema: AddMember },
    async (trx, { targetId: groupId, payload: { userId } }, by) =>
      (await addMember(trx, { groupId, userId }, byCaller(by))).id,
  ),
  policy_group_member_remove: governedAction(
    { operationId: 'removePolicyGroupMember', target: 'policy group', schema: AddMember },
    async (trx, { targetId: groupId, payload: { userId } }, by) => {
      await removeMember(trx, { groupId, userId }, byCaller(by))
      return groupId
    },
  ),
  policy_create: governedAction(
    { operationId: 'createPolicy', target: 'policy group', schema: CreatePolicy },
    async (trx, { targetId, payload }, by) => (await createPolicy(trx, targetId, draftOf(payload), byCaller(by))).id,
  ),
  policy_update: governedAction(
    { operationId: 'updatePolicy', target: 'policy', schema: UpdatePolicy },
    async (trx, { targetId, payload }, by) => (await updatePolicy(trx, targetId, payload, byCaller(by))).id,
  ),
  policy_delete: governedAction(
    { operationId: 'deletePolicy', target: 'policy', schema: Closed({}) },
    async (trx, { targetId }, by) => {
      await deletePolicy(trx, targetId, byCaller(by))
      return targetId
    },
  ),
  member_remove: governedAction(
    { operationId: 'removeMember', target: 'member', schema: Closed({}) },
    async (trx, { targetId }, by) => {
      await removeFromVault(trx, targetId, by)
      return targetId
    },
  ),
}

const byCaller = ({ member, now }: ByMember): ByCaller => ({ caller: member, now })
