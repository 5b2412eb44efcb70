import { memberOf } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { created, noContent, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { PageOf, Ref, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { notFound } from '../../../lib/errors.ts'
import { gate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import type { Appliers } from '../../rules/votes/applier.ts'
import { toCounterpartyGroup, toCounterpartyGroupMembership } from './present.ts'
import { findGroup, findMembership, listGroups, listMemberships } from './queries.ts'
import {
  CounterpartyGroup,
  CounterpartyGroupCreation,
  CounterpartyGroupMember,
  CounterpartyGroupMemberParams,
  CounterpartyGroupMemberQuery,
  CounterpartyGroupMembership,
  CounterpartyGroupQuery,
  CounterpartyGroupUpdate,
} from './schema.ts'

const tag = 'Counterparties'

export function counterpartyGroupRoutes(app: App, deps: Deps, appliers: Appliers): void {
  app.get(
    '/vaults/:code/counterparty-groups',
    route({
      operationId: 'listCounterpartyGroups',
      summary: 'Counterparty groups of a vault, newest first',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: CounterpartyGroupQuery,
      answers: { 200: PageOf(Ref(CounterpartyGroup)) },
    }),
    async (request) => {
      const { after, limit } = pageOf(request.query)
      const archived = request.query.archived ?? null
      const rows = await listGroups(deps.db, memberOf(request).vault.id, archived, { after, limit })
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }), toCounterpartyGroup)
    },
  )

  app.post(
    '/vaults/:code/counterparty-groups',
    route({
      operationId: 'createCounterpartyGroup',
      summary: 'Create a counterparty group',
      description: 'Gated by policies of action type counterparty_group_create.',
      tag,
      access: 'member',
      params: VaultParams,
      body: CounterpartyGroupCreation,
      answers: { 201: Ref(CounterpartyGroup), 202: Ref(WaitingAction) },
      errors: [409],
    }),
    async (request, reply) => {
      const { vault } = memberOf(request)
      return gate(
        deps,
        { request, reply },
        {
          appliers,
          action: 'counterparty_group_create',
          payload: request.body,
          applied: async (trx, id) => created(await readGroup(trx, vault.id, id)),
        },
      )
    },
  )

  app.get(
    '/vaults/:code/counterparty-groups/:id',
    route({
      operationId: 'getCounterpartyGroup',
      summary: 'One counterparty group',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(CounterpartyGroup) },
    }),
    async (request) => readGroup(deps.db, memberOf(request).vault.id, request.params.id),
  )

  app.patch(
    '/vaults/:code/counterparty-groups/:id',
    route({
      operationId: 'updateCounterpartyGroup',
      summary: 'Change name and looks of a counterparty group',
      description: 'Gated by policies of action type counterparty_group_update. The code stays.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: CounterpartyGroupUpdate,
      answers: { 200: Ref(CounterpartyGroup), 202: Ref(WaitingAction) },
      errors: [409],
    }),
    async (request, reply) => {
      const { vault } = memberOf(request)
      return gate(
        deps,
        { request, reply },
        {
          appliers,
          action: 'counterparty_group_update',
          targetId: request.params.id,
          payload: request.body,
          applied: async (trx, id) => ok(await readGroup(trx, vault.id, id)),
        },
      )
    },
  )

  app.post(
    '/vaults/:code/counterparty-groups/:id/archive',
    route({
      operationId: 'archiveCounterpartyGroup',
      summary: 'Archive a counterparty group for good',
      description: 'Gated by policies of action type counterparty_group_archive. Its members stay as they are.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(CounterpartyGroup), 202: Ref(WaitingAction) },
      errors: [409],
    }),
    async (request, reply) => {
      const { vault } = memberOf(request)
      return gate(
        deps,
        { request, reply },
        {
          appliers,
          action: 'counterparty_group_archive',
          targetId: request.params.id,
          payload: {},
          applied: async (trx, id) => ok(await readGroup(trx, vault.id, id)),
        },
      )
    },
  )

  app.get(
    '/vaults/:code/counterparty-groups/:id/members',
    route({
      operationId: 'listCounterpartyGroupMembers',
      summary: 'Members of a counterparty group, the latest first',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      querystring: CounterpartyGroupMemberQuery,
      answers: { 200: PageOf(Ref(CounterpartyGroupMembership)) },
    }),
    async (request) => {
      const { vault } = memberOf(request)
      const { after, limit } = pageOf(request.query)
      const { id } = await readGroup(deps.db, vault.id, request.params.id)
      const rows = await listMemberships(deps.db, vault.id, id, { after, limit })
      const position = (row: (typeof rows)[number]) => ({ createdAt: row.created_at, id: row.counterparty_id })
      return toPage(rows, limit, position, toCounterpartyGroupMembership)
    },
  )

  app.post(
    '/vaults/:code/counterparty-groups/:id/members',
    route({
      operationId: 'addCounterpartyGroupMember',
      summary: 'Put a counterparty into a group',
      description: 'Gated by policies of action type counterparty_group_add.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: CounterpartyGroupMember,
      answers: { 201: Ref(CounterpartyGroupMembership), 202: Ref(WaitingAction) },
      errors: [409],
    }),
    async (request, reply) => {
      const { vault } = memberOf(request)
      const { counterpartyId } = request.body
      return gate(
        deps,
        { request, reply },
        {
          appliers,
          action: 'counterparty_group_add',
          targetId: request.params.id,
          payload: request.body,
          applied: async (trx, groupId) =>
            created(toCounterpartyGroupMembership((await findMembership(trx, vault.id, { groupId, counterpartyId }))!)),
        },
      )
    },
  )

  app.delete(
    '/vaults/:code/counterparty-groups/:id/members/:counterpartyId',
    route({
      operationId: 'removeCounterpartyGroupMember',
      summary: 'Take a counterparty out of a group',
      description: 'Gated by policies of action type counterparty_group_remove.',
      tag,
      access: 'member',
      params: CounterpartyGroupMemberParams,
      answers: { 202: Ref(WaitingAction), 204: null },
      errors: [409],
    }),
    async (request, reply) =>
      gate(
        deps,
        { request, reply },
        {
          appliers,
          action: 'counterparty_group_remove',
          targetId: request.params.id,
          payload: { counterpartyId: request.params.counterpartyId },
          applied: async () => noContent(),
        },
      ),
  )
}

async function readGroup(db: Db | Trx, vaultId: string, id: string) {
  const row = await findGroup(db, vaultId, id)
  if (row === null) throw notFound('Counterparty group')
  return toCounterpartyGroup(row)
}
