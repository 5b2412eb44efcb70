import type { Static } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { createGate, gatedBy, gateErrors } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { gatedImageEndpoints } from '../counterparties/image-endpoints.ts'
import { toCounterpartyGroup, toCounterpartyGroupMembership } from './present.ts'
import { findGroup, findMembership, listGroups, listMemberships } from './queries.ts'
import {
  CounterpartyGroup,
  CounterpartyGroupCreation,
  CounterpartyGroupMember,
  CounterpartyGroupMembership,
  CounterpartyGroupQuery,
  CounterpartyGroupUpdate,
  counterpartyGroupMemberParams,
} from './schema.ts'

export function counterpartyGroupRoutes(app: App, deps: Deps, executors: Executors): void {
  gatedImageEndpoints(app, deps, executors, {
    kind: 'counterparty_group',
    path: 'counterparty-groups',
    name: 'CounterpartyGroup',
    noun: 'a counterparty group',
    answered: 'the group',
    answer: CounterpartyGroup,
    read: readGroup,
  })
  const api = endpoints(app, deps, 'Counterparties', { access: 'member', scopes: { reads: 'read', writes: 'write' } })
  const gate = createGate(deps, executors)

  api.list('listCounterpartyGroups', '/vaults/:code/counterparty-groups', {
    summary: 'List counterparty groups',
    description: 'For members of the vault, newest first.',
    querystring: CounterpartyGroupQuery,
    item: CounterpartyGroup,
    load: (db, { member, query }, page) => listGroups(db, member.vault.id, query.archived ?? null, page),
    present: toCounterpartyGroup,
  })

  api.send.post('createCounterpartyGroup', '/vaults/:code/counterparty-groups', {
    summary: 'Create a counterparty group',
    description: gatedBy('counterparty_group_create'),
    errors: gateErrors('already_exists'),
    body: CounterpartyGroupCreation,
    answers: { 201: CounterpartyGroup, 202: WaitingAction },
    handler: ({ body }, http) => gate(http, { action: 'counterparty_group_create', payload: body }, readGroup),
  })

  api.get('getCounterpartyGroup', '/vaults/:code/counterparty-groups/:id', {
    summary: 'Get a counterparty group',
    description: 'For members of the vault.',
    answers: { 200: CounterpartyGroup },
    handler: (db, { member, params }) => readGroup(db, params.id, member),
  })

  api.send.patch('updateCounterpartyGroup', '/vaults/:code/counterparty-groups/:id', {
    summary: 'Update a counterparty group',
    description: `Name, description and appearance; the code cannot be changed. ${gatedBy('counterparty_group_update')}`,
    errors: gateErrors('archived', 'changed_concurrently'),
    body: CounterpartyGroupUpdate,
    answers: { 200: CounterpartyGroup, 202: WaitingAction },
    handler: ({ params, body }, http) =>
      gate(http, { action: 'counterparty_group_update', targetId: params.id, payload: body }, readGroup),
  })

  api.send.post('archiveCounterpartyGroup', '/vaults/:code/counterparty-groups/:id/archive', {
    summary: 'Archive a counterparty group',
    description: `${gatedBy('counterparty_group_archive')} Cannot be undone. Its members stay in it.`,
    errors: gateErrors('archived', 'changed_concurrently'),
    answers: { 200: CounterpartyGroup, 202: WaitingAction },
    handler: ({ params }, http) =>
      gate(http, { action: 'counterparty_group_archive', targetId: params.id, payload: {} }, readGroup),
  })

  api.list('listCounterpartyGroupMembers', '/vaults/:code/counterparty-groups/:id/members', {
    summary: 'List members of a counterparty group',
    description: 'For members of the vault, most recently added first.',
    item: CounterpartyGroupMembership,
    load: async (db, { member, params }, page) => {
      const { id } = await readGroup(db, params.id, member)
      return listMemberships(db, member.vault.id, id, page)
    },
    present: toCounterpartyGroupMembership,
    position: (row) => ({ createdAt: row.created_at, id: row.counterparty_id }),
  })

  api.send.post('addCounterpartyGroupMember', '/vaults/:code/counterparty-groups/:id/members', {
    summary: 'Add a counterparty to a group',
    description: gatedBy('counterparty_group_add'),
    errors: gateErrors('already_exists', 'archived', 'changed_concurrently'),
    body: CounterpartyGroupMember,
    answers: { 201: CounterpartyGroupMembership, 202: WaitingAction },
    handler: ({ member, params, body: { counterpartyId } }, http) =>
      gate(
        http,
        { action: 'counterparty_group_add', targetId: params.id, payload: { counterpartyId } },
        async (trx, groupId) => {
          const row = await findMembership(trx, member.vault.id, { groupId, counterpartyId })
          return toCounterpartyGroupMembership(row!)
        },
      ),
  })

  api.send.delete('removeCounterpartyGroupMember', '/vaults/:code/counterparty-groups/:id/members/:counterpartyId', {
    summary: 'Remove a counterparty from a group',
    description: gatedBy('counterparty_group_remove'),
    errors: gateErrors('archived', 'changed_concurrently'),
    params: counterpartyGroupMemberParams,
    answers: { 202: WaitingAction, 204: null },
    handler: ({ params: { id, counterpartyId } }, http) =>
      gate(http, { action: 'counterparty_group_remove', targetId: id, payload: { counterpartyId } }),
  })
}

async function readGroup(db: Db | Trx, id: string, { vault }: Member): Promise<Static<typeof CounterpartyGroup>> {
  return toCounterpartyGroup(orNotFound(await findGroup(db, vault.id, id), 'Counterparty group'))
}
