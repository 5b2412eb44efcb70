import { callerOf, memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { created, mutate, noContent, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { IdParams, PageOf, Ref, VaultParams } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { createPolicy, deletePolicy, updatePolicy } from './actions.ts'
import { addMember, createPolicyGroup, deletePolicyGroup, removeMember, updatePolicyGroup } from './group-actions.ts'
import { draftOf } from './policy-draft.ts'
import { toMembership, toPolicy, toPolicyGroup, toPolicyGroupListItem, toPolicyListItem } from './present.ts'
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
import { assertReadable } from './standing.ts'

const tag = 'Policies'

export function policyRoutes(app: App, deps: Deps): void {
  app.get(
    '/vaults/:code/policy-groups',
    route({
      operationId: 'listPolicyGroups',
      summary: 'List the policy groups of a vault',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: PolicyGroupQuery,
      answers: { 200: PageOf(Ref(PolicyGroupListItem)) },
    }),
    async (request) => {
      const page = pageOf(request.query)
      const rows = await listGroups(deps.db, memberOf(request).vault.id, page)
      return toPage(rows, page.limit, (row) => row, toPolicyGroupListItem)
    },
  )

  app.post(
    '/vaults/:code/policy-groups',
    route({
      operationId: 'createPolicyGroup',
      summary: 'Create a policy group',
      tag,
      access: 'administrator',
      params: VaultParams,
      body: CreatePolicyGroup,
      answers: { 201: Ref(PolicyGroup) },
      errors: [409],
    }),
    async (request, reply) => {
      const { userId: actorId, vault } = memberOf(request)
      const now = deps.clock()
      return mutate(deps, request, reply, async (trx) =>
        created(toPolicyGroup(await createPolicyGroup(trx, { vaultId: vault.id, actorId, fields: request.body, now }))),
      )
    },
  )

  app.get(
    '/policy-groups/:id',
    route({
      operationId: 'getPolicyGroup',
      summary: 'Read a policy group with its policies and memberships',
      tag,
      access: 'caller',
      params: IdParams,
      answers: { 200: Ref(PolicyGroup) },
      errors: [404],
    }),
    async (request) => {
      const row = await findGroup(deps.db, request.params.id, callerOf(request).userId)
      return toPolicyGroup(assertReadable(row, 'Policy group'))
    },
  )

  app.patch(
    '/policy-groups/:id',
    route({
      operationId: 'updatePolicyGroup',
      summary: 'Change a policy group',
      tag,
      access: 'caller',
      params: IdParams,
      body: UpdatePolicyGroup,
      answers: { 200: Ref(PolicyGroup) },
      errors: [403, 404, 409],
    }),
    async (request, reply) => {
      const { userId: actorId } = callerOf(request)
      const now = deps.clock()
      return mutate(deps, request, reply, async (trx) =>
        ok(toPolicyGroup(await updatePolicyGroup(trx, { id: request.params.id, actorId, patch: request.body, now }))),
      )
    },
  )

  app.delete(
    '/policy-groups/:id',
    route({
      operationId: 'deletePolicyGroup',
      summary: 'Delete a policy group that no policy depends on',
      tag,
      access: 'caller',
      params: IdParams,
      answers: { 204: null },
      errors: [403, 404, 409],
    }),
    async (request, reply) => {
      const { userId: actorId } = callerOf(request)
      const now = deps.clock()
      return mutate(deps, request, reply, async (trx) => {
        await deletePolicyGroup(trx, { id: request.params.id, actorId, now })
        return noContent()
      })
    },
  )

  app.post(
    '/policy-groups/:id/members',
    route({
      operationId: 'addPolicyGroupMember',
      summary: 'Put a user into a policy group',
      tag,
      access: 'caller',
      params: IdParams,
      body: AddMember,
      answers: { 201: Ref(PolicyGroupMembership) },
      errors: [403, 404, 409],
    }),
    async (request, reply) => {
      const { userId: actorId } = callerOf(request)
      const { userId } = request.body
      const now = deps.clock()
      return mutate(deps, request, reply, async (trx) =>
        created(toMembership(await addMember(trx, { groupId: request.params.id, actorId, userId, now }))),
      )
    },
  )

  app.delete(
    '/policy-groups/:id/members/:userId',
    route({
      operationId: 'removePolicyGroupMember',
      summary: 'Take a user out of a policy group',
      tag,
      access: 'caller',
      params: MemberParams,
      answers: { 204: null },
      errors: [403, 404, 409],
    }),
    async (request, reply) => {
      const { userId: actorId } = callerOf(request)
      const { id: groupId, userId } = request.params
      const now = deps.clock()
      return mutate(deps, request, reply, async (trx) => {
        await removeMember(trx, { groupId, actorId, userId, now })
        return noContent()
      })
    },
  )

  app.post(
    '/policy-groups/:id/policies',
    route({
      operationId: 'createPolicy',
      summary: 'Create a policy in a group',
      tag,
      access: 'caller',
      params: IdParams,
      body: CreatePolicy,
      answers: { 201: Ref(Policy) },
      errors: [403, 404, 409],
    }),
    async (request, reply) => {
      const { userId: actorId } = callerOf(request)
      const draft = draftOf(request.body)
      const now = deps.clock()
      return mutate(deps, request, reply, async (trx) =>
        created(toPolicy(await createPolicy(trx, { groupId: request.params.id, actorId, draft, now }))),
      )
    },
  )

  app.get(
    '/vaults/:code/policies',
    route({
      operationId: 'listPolicies',
      summary: 'List the policies of all groups of a vault',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: PolicyQuery,
      answers: { 200: PageOf(Ref(PolicyListItem)) },
    }),
    async (request) => {
      const page = pageOf(request.query)
      const rows = await listPolicies(deps.db, memberOf(request).vault.id, request.query, page)
      return toPage(rows, page.limit, (row) => row, toPolicyListItem)
    },
  )

  app.get(
    '/policies/:id',
    route({
      operationId: 'getPolicy',
      summary: 'Read a policy with its rules and approvers',
      tag,
      access: 'caller',
      params: IdParams,
      answers: { 200: Ref(Policy) },
      errors: [404],
    }),
    async (request) => {
      const row = await findPolicy(deps.db, request.params.id, callerOf(request).userId)
      return toPolicy(assertReadable(row, 'Policy'))
    },
  )

  app.patch(
    '/policies/:id',
    route({
      operationId: 'updatePolicy',
      summary: 'Change a policy; rules and approvers are replaced whole',
      tag,
      access: 'caller',
      params: IdParams,
      body: UpdatePolicy,
      answers: { 200: Ref(Policy) },
      errors: [403, 404, 409],
    }),
    async (request, reply) => {
      const { userId: actorId } = callerOf(request)
      const now = deps.clock()
      return mutate(deps, request, reply, async (trx) =>
        ok(toPolicy(await updatePolicy(trx, { id: request.params.id, actorId, change: request.body, now }))),
      )
    },
  )

  app.delete(
    '/policies/:id',
    route({
      operationId: 'deletePolicy',
      summary: 'Delete a policy',
      tag,
      access: 'caller',
      params: IdParams,
      answers: { 204: null },
      errors: [403, 404, 409],
    }),
    async (request, reply) => {
      const { userId: actorId } = callerOf(request)
      const now = deps.clock()
      return mutate(deps, request, reply, async (trx) => {
        await deletePolicy(trx, { id: request.params.id, actorId, now })
        return noContent()
      })
    },
  )
}
