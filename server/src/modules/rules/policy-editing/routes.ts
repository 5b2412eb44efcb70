import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { imageEndpoints } from '../../registry/images/endpoints.ts'
import { WaitingAction } from '../approval-requests/schema.ts'
import { governedBy, governedIn } from '../governance/govern.ts'
import { createPolicy, deletePolicy, updatePolicy } from '../policies/actions.ts'
import { PolicySelectors } from '../policies/form-schema.ts'
import { draftOf } from '../policies/policy-draft.ts'
import { toPolicy, toPolicyListItem, toPolicySelectors } from '../policies/present.ts'
import { findPolicy, listPolicies } from '../policies/queries.ts'
import { CreatePolicy, Policy, PolicyListItem, PolicyQuery, UpdatePolicy } from '../policies/schema.ts'
import {
  addMember,
  createPolicyGroup,
  deletePolicyGroup,
  removeMember,
  updatePolicyGroup,
} from '../policy-groups/actions.ts'
import { toMembership, toPolicyGroup, toPolicyGroupListItem } from '../policy-groups/present.ts'
import { findGroup, listGroups } from '../policy-groups/queries.ts'
import {
  AddMember,
  CreatePolicyGroup,
  memberParams,
  PolicyGroup,
  PolicyGroupListItem,
  PolicyGroupMembership,
  UpdatePolicyGroup,
} from '../policy-groups/schema.ts'
import { assertReadable } from '../policy-groups/vault-role.ts'

/** The errors of a change that must wait for votes, in a vault with governance, and cannot. */
const waiting = ['limit_reached', 'quorum_unreachable'] as const

export function policyRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Policies', { access: 'caller', scopes: { reads: 'read', writes: 'rules' } })

  imageEndpoints(api, '/policy-groups/:id', {
    name: 'PolicyGroup',
    noun: 'a policy group',
    who: 'For administrators of the vault. Returns the group, whose `logoUri` is the address of the image.',
    type: 'policy_group',
    answer: PolicyGroup,
    errors: ['administrator_required', 'auditor_reads_only', 'caller_held', 'not_found'],
    idOf: ({ params }) => params.id,
    change: async (trx, { params, ...by }, logoUri) => {
      const group = await updatePolicyGroup(trx, params.id, { logoUri }, by)
      return { body: toPolicyGroup(group), vaultId: group.vaultId }
    },
  })
  const governed = {
    in: governedIn(deps),
    group: governedBy(deps, 'policy_groups'),
    policy: governedBy(deps, 'policies'),
  }

  api.list('listPolicyGroups', '/vaults/:code/policy-groups', {
    summary: 'List policy groups',
    description: 'For members of the vault, newest first.',
    access: 'member',
    item: PolicyGroupListItem,
    load: (db, { member }, page) => listGroups(db, member.vault.id, page),
    present: toPolicyGroupListItem,
    position: (row) => row,
  })

  api.post('createPolicyGroup', '/vaults/:code/policy-groups', {
    summary: 'Create a policy group',
    description: 'For administrators of the vault. 409 when the vault has a group with this code.',
    access: 'administrator',
    errors: ['not_found', 'already_exists', ...waiting],
    body: CreatePolicyGroup,
    confirmed: 'where protected',
    answers: { 201: PolicyGroup, 202: WaitingAction },
    handler: (trx, { body, ...by }) =>
      governed.in(trx, by, ['policy_group_create', null, body], async () =>
        toPolicyGroup(await createPolicyGroup(trx, body, by)),
      ),
  })

  api.get('getPolicyGroup', '/policy-groups/:id', {
    summary: 'Get a policy group',
    description: 'With its policies in short form and all its memberships. For members of the vault.',
    errors: ['caller_held', 'not_found'],
    answers: { 200: PolicyGroup },
    handler: async (db, { params, caller }) =>
      toPolicyGroup(assertReadable(await findGroup(db, params.id, caller.userId), 'Policy group')),
  })

  api.patch('updatePolicyGroup', '/policy-groups/:id', {
    summary: 'Update a policy group',
    description: 'For administrators of the vault. The code of a system group cannot be changed.',
    errors: [
      'administrator_required',
      'auditor_reads_only',
      'caller_held',
      'not_found',
      'already_exists',
      'system_object',
      ...waiting,
    ],
    body: UpdatePolicyGroup,
    confirmed: 'where protected',
    answers: { 200: PolicyGroup, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed.group(trx, by, ['policy_group_update', params.id, body], async () =>
        toPolicyGroup(await updatePolicyGroup(trx, params.id, body, by)),
      ),
  })

  api.delete('deletePolicyGroup', '/policy-groups/:id', {
    summary: 'Delete a policy group',
    description:
      'For administrators of the vault. Its memberships end with it. 409 for a system group, for a group that has ' +
      'policies or approves for a policy, a category or changes of the rules, and while a rule of a policy names it.',
    errors: [
      'administrator_required',
      'auditor_reads_only',
      'caller_held',
      'not_found',
      'in_use',
      'system_object',
      ...waiting,
    ],
    confirmed: 'where protected',
    answers: { 202: WaitingAction, 204: null },
    handler: (trx, { params, ...by }) =>
      governed.group(trx, by, ['policy_group_delete', params.id, {}], () => deletePolicyGroup(trx, params.id, by)),
  })

  api.post('addPolicyGroupMember', '/policy-groups/:id/members', {
    summary: 'Add a member to a policy group',
    description:
      'For administrators of the vault. 409 for `everyone`, which stores no members, and for a user who is already in the group.',
    errors: [
      'administrator_required',
      'auditor_reads_only',
      'caller_held',
      'not_found',
      'already_exists',
      'system_object',
      ...waiting,
    ],
    body: AddMember,
    confirmed: 'where protected',
    answers: { 201: PolicyGroupMembership, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed.group(trx, by, ['policy_group_member_add', params.id, body], async () =>
        toMembership(await addMember(trx, { groupId: params.id, userId: body.userId }, by)),
      ),
  })

  api.delete('removePolicyGroupMember', '/policy-groups/:id/members/:userId', {
    summary: 'Remove a member from a policy group',
    description:
      'For administrators of the vault. Takes effect with the next request of that user. 404 when the user has no ' +
      'membership in the group; 409 for the last person among the administrators who can sign in and is not held.',
    errors: [
      'administrator_required',
      'auditor_reads_only',
      'caller_held',
      'not_found',
      'last_administrator',
      ...waiting,
    ],
    params: memberParams,
    confirmed: 'where protected',
    answers: { 202: WaitingAction, 204: null },
    handler: (trx, { params, ...by }) =>
      governed.group(trx, by, ['policy_group_member_remove', params.id, { userId: params.userId }], () =>
        removeMember(trx, { groupId: params.id, userId: params.userId }, by),
      ),
  })

  api.post('createPolicy', '/policy-groups/:id/policies', {
    summary: 'Create a policy',
    description:
      'Creates a policy in this group. For administrators of the vault. Rules may name only objects that exist in the ' +
      'vault; 409 when the vault has a policy with this code.',
    errors: ['administrator_required', 'auditor_reads_only', 'caller_held', 'not_found', 'already_exists', ...waiting],
    body: CreatePolicy,
    confirmed: 'where protected',
    answers: { 201: Policy, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed.group(trx, by, ['policy_create', params.id, body], async () =>
        toPolicy(await createPolicy(trx, params.id, draftOf(body), by)),
      ),
  })

  api.list('listPolicies', '/vaults/:code/policies', {
    summary: 'List policies',
    description: 'The policies of all groups of the vault, newest first. For members of the vault.',
    access: 'member',
    querystring: PolicyQuery,
    item: PolicyListItem,
    load: (db, { member, query }, page) => listPolicies(db, member.vault.id, query, page),
    present: toPolicyListItem,
    position: (row) => row,
  })

  api.get('listPolicySelectors', '/vaults/:code/policies/selectors', {
    summary: 'List the selectors of policies',
    description:
      'The selectors of each action, with title, operators and the JSON Schema of the value, so that a client can draw a ' +
      'form. For members of the vault.',
    access: 'member',
    answers: { 200: PolicySelectors },
    handler: async () => toPolicySelectors(),
  })

  api.get('getPolicy', '/policies/:id', {
    summary: 'Get a policy',
    description: 'With its rules, selectors, approvers and group. For members of the vault.',
    errors: ['caller_held', 'not_found'],
    answers: { 200: Policy },
    handler: async (db, { params, caller }) =>
      toPolicy(assertReadable(await findPolicy(db, params.id, caller.userId), 'Policy')),
  })

  api.patch('updatePolicy', '/policies/:id', {
    summary: 'Update a policy',
    description:
      'For administrators of the vault. Fields that are left out stay; `rules` and `approvers` are replaced as a whole.',
    errors: ['administrator_required', 'auditor_reads_only', 'caller_held', 'not_found', 'already_exists', ...waiting],
    body: UpdatePolicy,
    confirmed: 'where protected',
    answers: { 200: Policy, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed.policy(trx, by, ['policy_update', params.id, body], async () =>
        toPolicy(await updatePolicy(trx, params.id, body, by)),
      ),
  })

  api.delete('deletePolicy', '/policies/:id', {
    summary: 'Delete a policy',
    description: 'For administrators of the vault. Decisions that were made with the policy keep it as it was.',
    errors: ['administrator_required', 'auditor_reads_only', 'caller_held', 'not_found', ...waiting],
    confirmed: 'where protected',
    answers: { 202: WaitingAction, 204: null },
    handler: (trx, { params, ...by }) =>
      governed.policy(trx, by, ['policy_delete', params.id, {}], () => deletePolicy(trx, params.id, by)),
  })
}
