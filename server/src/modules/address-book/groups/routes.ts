import type { Static } from 'typebox'
import { byMember } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { ok } from '../../../http/mutate.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { deleteImages } from '../../registry/images/actions.ts'
import { imageRules, imageUpload, keepImageOf } from '../../registry/images/endpoints.ts'
import { createGate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { toCounterpartyGroup, toCounterpartyGroupMembership } from './present.ts'
import { findGroup, findMembership, listGroups, listMemberships } from './queries.ts'
import {
  CounterpartyGroup,
  CounterpartyGroupCreation,
  CounterpartyGroupMember,
  CounterpartyGroupMemberQuery,
  CounterpartyGroupMembership,
  CounterpartyGroupQuery,
  CounterpartyGroupUpdate,
  counterpartyGroupMemberParams,
} from './schema.ts'

export function counterpartyGroupRoutes(app: App, deps: Deps, executors: Executors): void {
  images(app, deps, executors)
  const api = endpoints(app, deps, 'Counterparties', { access: 'member' })
  const gate = createGate(deps, executors)

  api.list('listCounterpartyGroups', '/vaults/:code/counterparty-groups', {
    summary: 'List counterparty groups',
    description: 'For members of the vault, newest first.',
    querystring: CounterpartyGroupQuery,
    item: CounterpartyGroup,
    load: (db, { member, query }, page) => listGroups(db, member.vault.id, query.archived ?? null, page),
    present: toCounterpartyGroup,
  })

  api.send('post', 'createCounterpartyGroup', '/vaults/:code/counterparty-groups', {
    summary: 'Create a counterparty group',
    description:
      'Gated by policies of action type `counterparty_group_create`; 202 with the approval request when votes are required.',
    errors: ['blocked_by_policy', 'no_policy_allows', 'already_exists', 'quorum_unreachable'],
    body: CounterpartyGroupCreation,
    answers: { 201: CounterpartyGroup, 202: WaitingAction },
    handler: ({ member, body }, http) =>
      gate(
        http,
        { action: 'counterparty_group_create', payload: body },
        async (trx, id) => await readGroup(trx, member.vault.id, id),
      ),
  })

  api.get('getCounterpartyGroup', '/vaults/:code/counterparty-groups/:id', {
    summary: 'Get a counterparty group',
    description: 'For members of the vault.',
    answers: { 200: CounterpartyGroup },
    handler: (db, { member, params }) => readGroup(db, member.vault.id, params.id),
  })

  api.send('patch', 'updateCounterpartyGroup', '/vaults/:code/counterparty-groups/:id', {
    summary: 'Update a counterparty group',
    description:
      'Name, description and appearance; the code cannot be changed. Gated by policies of action type ' +
      '`counterparty_group_update`; 202 with the approval request when votes are required.',
    errors: ['blocked_by_policy', 'no_policy_allows', 'archived', 'changed_concurrently', 'quorum_unreachable'],
    body: CounterpartyGroupUpdate,
    answers: { 200: CounterpartyGroup, 202: WaitingAction },
    handler: ({ member, params, body }, http) =>
      gate(
        http,
        { action: 'counterparty_group_update', targetId: params.id, payload: body },
        async (trx, id) => await readGroup(trx, member.vault.id, id),
      ),
  })

  api.send('post', 'archiveCounterpartyGroup', '/vaults/:code/counterparty-groups/:id/archive', {
    summary: 'Archive a counterparty group',
    description:
      'Gated by policies of action type `counterparty_group_archive`; 202 with the approval request when votes are ' +
      'required. Cannot be undone. Its members stay in it.',
    errors: ['blocked_by_policy', 'no_policy_allows', 'archived', 'changed_concurrently', 'quorum_unreachable'],
    answers: { 200: CounterpartyGroup, 202: WaitingAction },
    handler: ({ member, params }, http) =>
      gate(
        http,
        { action: 'counterparty_group_archive', targetId: params.id, payload: {} },
        async (trx, id) => await readGroup(trx, member.vault.id, id),
      ),
  })

  api.list('listCounterpartyGroupMembers', '/vaults/:code/counterparty-groups/:id/members', {
    summary: 'List members of a counterparty group',
    description: 'For members of the vault, most recently added first.',
    querystring: CounterpartyGroupMemberQuery,
    item: CounterpartyGroupMembership,
    load: async (db, { member, params }, page) => {
      const { id } = await readGroup(db, member.vault.id, params.id)
      return listMemberships(db, member.vault.id, id, page)
    },
    present: toCounterpartyGroupMembership,
    position: (row) => ({ createdAt: row.created_at, id: row.counterparty_id }),
  })

  api.send('post', 'addCounterpartyGroupMember', '/vaults/:code/counterparty-groups/:id/members', {
    summary: 'Add a counterparty to a group',
    description:
      'Gated by policies of action type `counterparty_group_add`; 202 with the approval request when votes are required.',
    errors: [
      'blocked_by_policy',
      'no_policy_allows',
      'already_exists',
      'archived',
      'changed_concurrently',
      'quorum_unreachable',
    ],
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

  api.send('delete', 'removeCounterpartyGroupMember', '/vaults/:code/counterparty-groups/:id/members/:counterpartyId', {
    summary: 'Remove a counterparty from a group',
    description:
      'Gated by policies of action type `counterparty_group_remove`; 202 with the approval request when votes are required.',
    errors: ['blocked_by_policy', 'no_policy_allows', 'archived', 'changed_concurrently', 'quorum_unreachable'],
    params: counterpartyGroupMemberParams,
    answers: { 202: WaitingAction, 204: null },
    handler: ({ params: { id, counterpartyId } }, http) =>
      gate(
        http,
        { action: 'counterparty_group_remove', targetId: id, payload: { counterpartyId } },
        async () => undefined,
      ),
  })
}

async function readGroup(db: Db | Trx, vaultId: string, id: string): Promise<Static<typeof CounterpartyGroup>> {
  return toCounterpartyGroup(orNotFound(await findGroup(db, vaultId, id), 'Counterparty group'))
}

/** For administrators: an image is stored before anybody votes on showing it, and members must not fill the vault with them. */
function images(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Counterparties', { access: 'administrator' })
  const gate = createGate(deps, executors)
  const action = 'counterparty_group_update'
  const spec = {
    answers: { 200: CounterpartyGroup, 202: WaitingAction },
  } as const
  const errors = [
    'blocked_by_policy',
    'no_policy_allows',
    'archived',
    'changed_concurrently',
    'quorum_unreachable',
  ] as const
  const rules =
    'For administrators of the vault, and gated like any other update, by policies of action type ' +
    '`counterparty_group_update`; 202 with the approval request when votes are required.'

  api.send('put', 'replaceCounterpartyGroupImage', '/vaults/:code/counterparty-groups/:id/image', {
    summary: 'Replace the image of a counterparty group',
    description: `${rules} Answers the group, whose \`avatarUri\` is the address of the image. ${imageRules}`,
    ...spec,
    ...imageUpload,
    errors: [...errors, 'limit_reached'],
    handler: async ({ params: { id }, ...by }, http) => {
      const { vault } = by.member
      await readGroup(deps.db, vault.id, id)
      const avatarUri = await keepImageOf(deps.db, http.request, { type: 'counterparty_group', id }, by)
      return gate(http, { action, targetId: id, payload: { avatarUri } }, async (trx) =>
        ok(await readGroup(trx, vault.id, id)),
      )
    },
  })

  api.send('delete', 'deleteCounterpartyGroupImage', '/vaults/:code/counterparty-groups/:id/image', {
    summary: 'Delete the image of a counterparty group',
    description: `${rules} Also one of another host is no longer named.`,
    ...spec,
    errors,
    handler: ({ params: { id }, ...by }, http) =>
      gate(http, { action, targetId: id, payload: { avatarUri: null } }, async (trx) => {
        await deleteImages(trx, { type: 'counterparty_group', id }, byMember(by))
        return ok(await readGroup(trx, by.member.vault.id, id))
      }),
  })
}
