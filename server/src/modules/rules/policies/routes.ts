import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { created, noContent, ok } from '../../../http/mutate.ts'
import { IdParams, VaultParams } from '../../../http/schema.ts'
import { imageEndpoints } from '../../registry/images/endpoints.ts'
import { WaitingAction } from '../approval-requests/schema.ts'
import { governedBy, governedIn } from '../governance/govern.ts'
import { createPolicy, deletePolicy, updatePolicy } from './actions.ts'
import { PolicySelectors } from './form-schema.ts'
import { addMember, createPolicyGroup, deletePolicyGroup, removeMember, updatePolicyGroup } from './group-actions.ts'
import { draftOf } from './policy-draft.ts'
import {
  toMembership,
  toPolicy,
  toPolicyGroup,
  toPolicyGroupListItem,
  toPolicyListItem,
  toPolicySelectors,
} from './present.ts'
import { findGroup, findPolicy, listGroups, listPolicies } from './queries.ts'
import {
  AddMember,
  CreatePolicy,
  CreatePolicyGroup,
  MemberParams,
  Policy,
  PolicyGroup,
  PolicyGroupListItem,
  PolicyGroupMembership,
  PolicyGroupQuery,
  PolicyListItem,
  PolicyQuery,
  UpdatePolicy,
  UpdatePolicyGroup,
} from './schema.ts'
import { assertReadable } from './vault-role.ts'

/** In a vault with governance a change waits for votes, which may be impossible. */
const waiting = ['limit_reached', 'quorum_unreachable'] as const
const toRead = { access: 'caller', params: IdParams, errors: ['caller_held', 'not_found'] } as const
const toChange = { access: 'caller', params: IdParams, errors: [403, 404] } as const

export function policyRoutes(app: App, deps: Deps): void {
  images(app, deps)
  const api = endpoints(app, deps, 'Policies')
  const governed = {
    in: governedIn(deps),
    group: governedBy(deps, 'policy_groups'),
    policy: governedBy(deps, 'policies'),
  }

  api.list(
    '/vaults/:code/policy-groups',
    {
      operationId: 'listPolicyGroups',
      summary: 'List policy groups',
      description: 'For members of the vault, newest first.',
      access: 'member',
      params: VaultParams,
      querystring: PolicyGroupQuery,
      item: PolicyGroupListItem,
    },
    (db, { member }, page) => listGroups(db, member.vault.id, page),
    toPolicyGroupListItem,
    (row) => row,
  )

  api.post(
    '/vaults/:code/policy-groups',
    {
      operationId: 'createPolicyGroup',
      summary: 'Create a policy group',
      description: 'For administrators of the vault. 409 when the vault has a group of this code.',
      access: 'administrator',
      errors: ['not_found', 'already_exists', ...waiting],
      params: VaultParams,
      body: CreatePolicyGroup,
      confirmed: 'where protected',
      answers: { 201: PolicyGroup, 202: WaitingAction },
    },
    (trx, { body, ...by }) =>
      governed.in(trx, by, ['policy_group_create', null, body], async () =>
        created(toPolicyGroup(await createPolicyGroup(trx, body, by))),
      ),
  )

  api.get(
    '/policy-groups/:id',
    {
      operationId: 'getPolicyGroup',
      summary: 'Get a policy group',
      description: 'With its policies in short form and all its memberships. For members of the vault.',
      ...toRead,
      answers: { 200: PolicyGroup },
    },
    async (db, { params, caller }) =>
      toPolicyGroup(assertReadable(await findGroup(db, params.id, caller.userId), 'Policy group')),
  )

  api.patch(
    '/policy-groups/:id',
    {
      operationId: 'updatePolicyGroup',
      summary: 'Update a policy group',
      description: 'For administrators of the vault. The code of a system group cannot be changed.',
      ...toChange,
      errors: ['administrator_required', 'caller_held', 'not_found', 'already_exists', 'system_object', ...waiting],
      body: UpdatePolicyGroup,
      confirmed: 'where protected',
      answers: { 200: PolicyGroup, 202: WaitingAction },
    },
    (trx, { params, body, ...by }) =>
      governed.group(trx, by, ['policy_group_update', params.id, body], async () =>
        ok(toPolicyGroup(await updatePolicyGroup(trx, params.id, body, by))),
      ),
  )

  api.delete(
    '/policy-groups/:id',
    {
      operationId: 'deletePolicyGroup',
      summary: 'Delete a policy group',
      description:
        'For administrators of the vault. Its memberships end with it. 409 for a system group, for a group that has ' +
        'policies or approves for a policy or a category, and while a rule of a policy names it.',
      ...toChange,
      errors: ['administrator_required', 'caller_held', 'not_found', 'in_use', 'system_object', ...waiting],
      confirmed: 'where protected',
      answers: { 202: WaitingAction, 204: null },
    },
    (trx, { params, ...by }) =>
      governed.group(trx, by, ['policy_group_delete', params.id, {}], async () => {
        await deletePolicyGroup(trx, params.id, by)
        return noContent()
      }),
  )

  api.post(
    '/policy-groups/:id/members',
    {
      operationId: 'addPolicyGroupMember',
      summary: 'Add a member to a policy group',
      description:
        'For administrators of the vault. 409 for `everyone`, which stores no members, and for a user who is in the group already.',
      ...toChange,
      errors: ['administrator_required', 'caller_held', 'not_found', 'already_exists', 'system_object', ...waiting],
      body: AddMember,
      confirmed: 'where protected',
      answers: { 201: PolicyGroupMembership, 202: WaitingAction },
    },
    (trx, { params, body, ...by }) =>
      governed.group(trx, by, ['policy_group_member_add', params.id, body], async () =>
        created(toMembership(await addMember(trx, { groupId: params.id, userId: body.userId }, by))),
      ),
  )

  api.delete(
    '/policy-groups/:id/members/:userId',
    {
      operationId: 'removePolicyGroupMember',
      summary: 'Remove a member from a policy group',
      description:
        'For administrators of the vault. Takes effect with the next request of that user. 404 when the user has no ' +
        'membership in the group; 409 for the last administrator of the vault who can sign in.',
      ...toChange,
      errors: ['administrator_required', 'caller_held', 'not_found', 'last_administrator', ...waiting],
      params: MemberParams,
      confirmed: 'where protected',
      answers: { 202: WaitingAction, 204: null },
    },
    (trx, { params, ...by }) =>
      governed.group(trx, by, ['policy_group_member_remove', params.id, { userId: params.userId }], async () => {
        await removeMember(trx, { groupId: params.id, userId: params.userId }, by)
        return noContent()
      }),
  )

  api.post(
    '/policy-groups/:id/policies',
    {
      operationId: 'createPolicy',
      summary: 'Create a policy',
      description:
        'In this group. For administrators of the vault. Rules may name only what exists in the vault; 409 when the ' +
        'vault has a policy of this code.',
      ...toChange,
      errors: ['administrator_required', 'caller_held', 'not_found', 'already_exists', ...waiting],
      body: CreatePolicy,
      confirmed: 'where protected',
      answers: { 201: Policy, 202: WaitingAction },
    },
    (trx, { params, body, ...by }) =>
      governed.group(trx, by, ['policy_create', params.id, body], async () =>
        created(toPolicy(await createPolicy(trx, params.id, draftOf(body), by))),
      ),
  )

  api.list(
    '/vaults/:code/policies',
    {
      operationId: 'listPolicies',
      summary: 'List policies',
      description: 'The policies of all groups of the vault, newest first. For members of the vault.',
      access: 'member',
      params: VaultParams,
      querystring: PolicyQuery,
      item: PolicyListItem,
    },
    (db, { member, query }, page) => listPolicies(db, member.vault.id, query, page),
    toPolicyListItem,
    (row) => row,
  )

  api.get(
    '/vaults/:code/policies/selectors',
    {
      operationId: 'listPolicySelectors',
      summary: 'List the selectors of policies',
      description:
        'What a rule may look at, for each action: its title, its operators and the JSON Schema of its value, so that a ' +
        'form can be drawn. For members of the vault.',
      access: 'member',
      params: VaultParams,
      answers: { 200: PolicySelectors },
    },
    async () => toPolicySelectors(),
  )

  api.get(
    '/policies/:id',
    {
      operationId: 'getPolicy',
      summary: 'Get a policy',
      description: 'With its rules, selectors, approvers and group. For members of the vault.',
      ...toRead,
      answers: { 200: Policy },
    },
    async (db, { params, caller }) =>
      toPolicy(assertReadable(await findPolicy(db, params.id, caller.userId), 'Policy')),
  )

  api.patch(
    '/policies/:id',
    {
      operationId: 'updatePolicy',
      summary: 'Update a policy',
      description:
        'For administrators of the vault. Fields that are left out stay; `rules` and `approvers` are replaced as a whole.',
      ...toChange,
      errors: ['administrator_required', 'caller_held', 'not_found', 'already_exists', ...waiting],
      body: UpdatePolicy,
      confirmed: 'where protected',
      answers: { 200: Policy, 202: WaitingAction },
    },
    (trx, { params, body, ...by }) =>
      governed.policy(trx, by, ['policy_update', params.id, body], async () =>
        ok(toPolicy(await updatePolicy(trx, params.id, body, by))),
      ),
  )

  api.delete(
    '/policies/:id',
    {
      operationId: 'deletePolicy',
      summary: 'Delete a policy',
      description: 'For administrators of the vault. Decisions that were made with the policy keep it as it was.',
      ...toChange,
      errors: ['administrator_required', 'caller_held', 'not_found', ...waiting],
      confirmed: 'where protected',
      answers: { 202: WaitingAction, 204: null },
    },
    (trx, { params, ...by }) =>
      governed.policy(trx, by, ['policy_delete', params.id, {}], async () => {
        await deletePolicy(trx, params.id, by)
        return noContent()
      }),
  )
}

function images(app: App, deps: Deps): void {
  imageEndpoints(
    endpoints(app, deps, 'Policies'),
    {
      path: '/policy-groups/:id',
      name: 'PolicyGroup',
      noun: 'a policy group',
      who: 'For administrators of the vault. Answers the group, whose `logoUri` is the address of the image.',
      type: 'policy_group',
      ...toChange,
      answer: PolicyGroup,
      errors: ['administrator_required', 'caller_held', 'not_found'],
    },
    ({ params }) => params.id,
    async (trx, { params, ...by }, logoUri) => {
      const group = await updatePolicyGroup(trx, params.id, { logoUri }, by)
      return { body: toPolicyGroup(group), vaultId: group.vaultId }
    },
  )
}
