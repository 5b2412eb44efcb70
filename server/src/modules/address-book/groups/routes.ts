import type { Static } from 'typebox'
import { byMember } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { created, noContent, ok } from '../../../http/mutate.ts'
import { VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
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
  CounterpartyGroupMemberParams,
  CounterpartyGroupMemberQuery,
  CounterpartyGroupMembership,
  CounterpartyGroupQuery,
  CounterpartyGroupUpdate,
} from './schema.ts'

const ofVault = { access: 'member', params: VaultParams } as const
const ofGroup = { access: 'member', params: VaultAndIdParams } as const

export function counterpartyGroupRoutes(app: App, deps: Deps, executors: Executors): void {
  images(app, deps, executors)
  const api = endpoints(app, deps, 'Counterparties')
  const gate = createGate(deps, executors)

  api.list(
    '/vaults/:code/counterparty-groups',
    {
      operationId: 'listCounterpartyGroups',
      summary: 'List counterparty groups',
      description: 'For members of the vault, newest first.',
      ...ofVault,
      querystring: CounterpartyGroupQuery,
      item: CounterpartyGroup,
    },
    (db, { member, query }, page) => listGroups(db, member.vault.id, query.archived ?? null, page),
    toCounterpartyGroup,
  )

  api.send(
    'post',
    '/vaults/:code/counterparty-groups',
    {
      operationId: 'createCounterpartyGroup',
      summary: 'Create a counterparty group',
      description:
        'Gated by policies of action type `counterparty_group_create`; 202 with the approval request when votes are required.',
      ...ofVault,
      errors: ['blocked_by_policy', 'no_policy_allows', 'already_exists', 'quorum_unreachable'],
      body: CounterpartyGroupCreation,
      answers: { 201: CounterpartyGroup, 202: WaitingAction },
    },
    ({ member, body }, http) =>
      gate(http, { action: 'counterparty_group_create', payload: body }, async (trx, id) =>
        created(await readGroup(trx, member.vault.id, id)),
      ),
  )

  api.get(
    '/vaults/:code/counterparty-groups/:id',
    {
      operationId: 'getCounterpartyGroup',
      summary: 'Get a counterparty group',
      description: 'For members of the vault.',
      ...ofGroup,
      answers: { 200: CounterpartyGroup },
    },
    (db, { member, params }) => readGroup(db, member.vault.id, params.id),
  )

  api.send(
    'patch',
    '/vaults/:code/counterparty-groups/:id',
    {
      operationId: 'updateCounterpartyGroup',
      summary: 'Update a counterparty group',
      description:
        'Name, description and appearance; the code cannot be changed. Gated by policies of action type ' +
        '`counterparty_group_update`; 202 with the approval request when votes are required.',
      ...ofGroup,
      errors: ['blocked_by_policy', 'no_policy_allows', 'archived', 'changed_concurrently', 'quorum_unreachable'],
      body: CounterpartyGroupUpdate,
      answers: { 200: CounterpartyGroup, 202: WaitingAction },
    },
    ({ member, params, body }, http) =>
      gate(http, { action: 'counterparty_group_update', targetId: params.id, payload: body }, async (trx, id) =>
        ok(await readGroup(trx, member.vault.id, id)),
      ),
  )

  api.send(
    'post',
    '/vaults/:code/counterparty-groups/:id/archive',
    {
      operationId: 'archiveCounterpartyGroup',
      summary: 'Archive a counterparty group',
      description:
        'Gated by policies of action type `counterparty_group_archive`; 202 with the approval request when votes are ' +
        'required. Cannot be undone. Its members stay in it.',
      ...ofGroup,
      errors: ['blocked_by_policy', 'no_policy_allows', 'archived', 'changed_concurrently', 'quorum_unreachable'],
      answers: { 200: CounterpartyGroup, 202: WaitingAction },
    },
    ({ member, params }, http) =>
      gate(http, { action: 'counterparty_group_archive', targetId: params.id, payload: {} }, async (trx, id) =>
        ok(await readGroup(trx, member.vault.id, id)),
      ),
  )

  api.list(
    '/vaults/:code/counterparty-groups/:id/members',
    {
      operationId: 'listCounterpartyGroupMembers',
      summary: 'List members of a counterparty group',
      description: 'For members of the vault, most recently added first.',
      ...ofGroup,
      querystring: CounterpartyGroupMemberQuery,
      item: CounterpartyGroupMembership,
    },
    async (db, { member, params }, page) => {
      const { id } = await readGroup(db, member.vault.id, params.id)
      return listMemberships(db, member.vault.id, id, page)
    },
    toCounterpartyGroupMembership,
    (row) => ({ createdAt: row.created_at, id: row.counterparty_id }),
  )

  api.send(
    'post',
    '/vaults/:code/counterparty-groups/:id/members',
    {
      operationId: 'addCounterpartyGroupMember',
      summary: 'Add a counterparty to a group',
      description:
        'Gated by policies of action type `counterparty_group_add`; 202 with the approval request when votes are required.',
      ...ofGroup,
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
    },
    ({ member, params, body: { counterpartyId } }, http) =>
      gate(
        http,
        { action: 'counterparty_group_add', targetId: params.id, payload: { counterpartyId } },
        async (trx, groupId) => {
          const row = await findMembership(trx, member.vault.id, { groupId, counterpartyId })
          return created(toCounterpartyGroupMembership(row!))
        },
      ),
  )

  api.send(
    'delete',
    '/vaults/:code/counterparty-groups/:id/members/:counterpartyId',
    {
      operationId: 'removeCounterpartyGroupMember',
      summary: 'Remove a counterparty from a group',
      description:
        'Gated by policies of action type `counterparty_group_remove`; 202 with the approval request when votes are required.',
      access: 'member',
      errors: ['blocked_by_policy', 'no_policy_allows', 'archived', 'changed_concurrently', 'quorum_unreachable'],
      params: CounterpartyGroupMemberParams,
      answers: { 202: WaitingAction, 204: null },
    },
    ({ params: { id, counterpartyId } }, http) =>
      gate(http, { action: 'counterparty_group_remove', targetId: id, payload: { counterpartyId } }, async () =>
        noContent(),
      ),
  )
}

async function readGroup(db: Db | Trx, vaultId: string, id: string): Promise<Static<typeof CounterpartyGroup>> {
  return toCounterpartyGroup(orNotFound(await findGroup(db, vaultId, id), 'Counterparty group'))
}

/** For administrators: an image is stored before anybody votes on showing it, and members must not fill the vault with them. */
function images(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Counterparties')
  const gate = createGate(deps, executors)
  const action = 'counterparty_group_update'
  const spec = {
    access: 'administrator',
    params: VaultAndIdParams,
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

  api.send(
    'put',
    '/vaults/:code/counterparty-groups/:id/image',
    {
      operationId: 'replaceCounterpartyGroupImage',
      summary: 'Replace the image of a counterparty group',
      description: `${rules} Answers the group, whose \`avatarUri\` is the address of the image. ${imageRules}`,
      ...spec,
      ...imageUpload,
      errors: [...errors, 'limit_reached'],
    },
    async ({ params: { id }, ...by }, http) => {
      const { vault } = by.member
      await readGroup(deps.db, vault.id, id)
      const avatarUri = await keepImageOf(deps, http.request, { type: 'counterparty_group', id }, by)
      return gate(http, { action, targetId: id, payload: { avatarUri } }, async (trx) =>
        ok(await readGroup(trx, vault.id, id)),
      )
    },
  )

  api.send(
    'delete',
    '/vaults/:code/counterparty-groups/:id/image',
    {
      operationId: 'deleteCounterpartyGroupImage',
      summary: 'Delete the image of a counterparty group',
      description: `${rules} Also one of another host is no longer named.`,
      ...spec,
      errors,
    },
    ({ params: { id }, ...by }, http) =>
      gate(http, { action, targetId: id, payload: { avatarUri: null } }, async (trx) => {
        await deleteImages(trx, { type: 'counterparty_group', id }, byMember(by))
        return ok(await readGroup(trx, by.member.vault.id, id))
      }),
  )
}
