import type { Static } from 'typebox'
import { byMember } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { ok } from '../../../http/mutate.ts'
import { AppError, faulty } from '../../../lib/errors.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { deleteImages } from '../../registry/images/actions.ts'
import { imageRules, imageUpload, keepImageOf } from '../../registry/images/endpoints.ts'
import { createGate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { toCounterparty, toCounterpartyAddress } from './present.ts'
import { findCounterparty, findCounterpartyAddress, listCounterparties } from './queries.ts'
import {
  Counterparty,
  CounterpartyAddress,
  CounterpartyCreation,
  CounterpartyQuery,
  CounterpartyUpdate,
  counterpartyAddressParams,
  NewCounterpartyAddress,
} from './schema.ts'

export function counterpartyRoutes(app: App, deps: Deps, executors: Executors): void {
  images(app, deps, executors)
  const api = endpoints(app, deps, 'Counterparties', { access: 'member' })
  const gate = createGate(deps, executors)

  api.list('listCounterparties', '/vaults/:code/counterparties', {
    summary: 'List counterparties',
    description:
      'For members of the vault, newest first. `search` finds part of a name, an address or a label, in any case of its letters.',
    querystring: CounterpartyQuery,
    item: Counterparty,
    load: (db, { member, query }, page) => listCounterparties(db, member.vault.id, query, page),
    present: toCounterparty,
  })

  api.send('post', 'createCounterparty', '/vaults/:code/counterparties', {
    summary: 'Create a counterparty',
    description:
      'Gated by policies of action type `counterparty_create`; 202 with the approval request when votes are required. ' +
      'An address belongs to one counterparty of the vault: 409 otherwise.',
    errors: ['blocked_by_policy', 'no_policy_allows', 'already_exists', 'quorum_unreachable'],
    body: CounterpartyCreation,
    answers: { 201: Counterparty, 202: WaitingAction },
    handler: ({ member, body }, http) =>
      gate(
        http,
        { action: 'counterparty_create', payload: body },
        async (trx, id) => await readCounterparty(trx, member.vault.id, id),
      ),
  })

  api.get('getCounterparty', '/vaults/:code/counterparties/:id', {
    summary: 'Get a counterparty',
    description: 'With its groups and addresses. For members of the vault.',
    answers: { 200: Counterparty },
    handler: (db, { member, params }) => readCounterparty(db, member.vault.id, params.id),
  })

  api.send('patch', 'updateCounterparty', '/vaults/:code/counterparties/:id', {
    summary: 'Update a counterparty',
    description:
      'Gated by policies of action type `counterparty_update`; 202 with the approval request when votes are required. ' +
      '`addAddresses` and `removeAddressIds` are part of the same decision.',
    errors: [
      'blocked_by_policy',
      'no_policy_allows',
      'already_exists',
      'archived',
      'changed_concurrently',
      'held',
      'limit_reached',
      'quorum_unreachable',
    ],
    body: CounterpartyUpdate,
    answers: { 200: Counterparty, 202: WaitingAction },
    handler: ({ member, params, body }, http) =>
      gate(
        http,
        { action: 'counterparty_update', targetId: params.id, payload: body },
        async (trx, id) => await readCounterparty(trx, member.vault.id, id),
      ),
  })

  api.send('post', 'archiveCounterparty', '/vaults/:code/counterparties/:id/archive', {
    summary: 'Archive a counterparty',
    description:
      'Gated by policies of action type `counterparty_archive`; 202 with the approval request when votes are ' +
      'required. Cannot be undone: the counterparty stays readable, cannot be changed, and no transfer to it is ' +
      'accepted.',
    errors: ['blocked_by_policy', 'no_policy_allows', 'archived', 'changed_concurrently', 'held', 'quorum_unreachable'],
    answers: { 200: Counterparty, 202: WaitingAction },
    handler: ({ member, params }, http) =>
      gate(
        http,
        { action: 'counterparty_archive', targetId: params.id, payload: {} },
        async (trx, id) => await readCounterparty(trx, member.vault.id, id),
      ),
  })

  api.send('post', 'addCounterpartyAddress', '/vaults/:code/counterparties/:id/addresses', {
    summary: 'Add an address to a counterparty',
    description:
      'Gated as an update, by policies of action type `counterparty_update`; 202 with the approval request when votes are required.',
    errors: [
      'blocked_by_policy',
      'no_policy_allows',
      'already_exists',
      'archived',
      'changed_concurrently',
      'held',
      'limit_reached',
      'quorum_unreachable',
    ],
    body: NewCounterpartyAddress,
    answers: { 201: CounterpartyAddress, 202: WaitingAction },
    handler: ({ member, params, body }, http) =>
      withoutPrefix('addAddresses.0.', () =>
        gate(
          http,
          { action: 'counterparty_update', targetId: params.id, payload: { addAddresses: [body] } },
          async (trx) => toCounterpartyAddress((await findCounterpartyAddress(trx, member.vault.id, body))!),
        ),
      ),
  })

  api.send('delete', 'removeCounterpartyAddress', '/vaults/:code/counterparties/:id/addresses/:addressId', {
    summary: 'Remove an address from a counterparty',
    description:
      'Gated as an update, by policies of action type `counterparty_update`; 202 with the approval request when votes are required.',
    errors: ['blocked_by_policy', 'no_policy_allows', 'archived', 'changed_concurrently', 'held', 'quorum_unreachable'],
    params: counterpartyAddressParams,
    answers: { 202: WaitingAction, 204: null },
    handler: ({ params }, http) =>
      gate(
        http,
        { action: 'counterparty_update', targetId: params.id, payload: { removeAddressIds: [params.addressId] } },
        async () => undefined,
      ),
  })
}

async function readCounterparty(db: Db | Trx, vaultId: string, id: string): Promise<Static<typeof Counterparty>> {
  return toCounterparty(orNotFound(await findCounterparty(db, vaultId, id), 'Counterparty'))
}

/** The body is nested in the payload of the action; errors are reported with the paths of the request. */
async function withoutPrefix<Result>(prefix: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError) || !Array.isArray(error.details)) throw error
    throw faulty(
      error.details.map(({ field, message }) => ({
        field: field.startsWith(prefix) ? field.slice(prefix.length) : field,
        message,
      })),
    )
  }
}

/** For administrators: an image is stored before anybody votes on showing it, and members must not fill the vault with them. */
function images(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Counterparties', { access: 'administrator' })
  const gate = createGate(deps, executors)
  const action = 'counterparty_update'
  const spec = {
    answers: { 200: Counterparty, 202: WaitingAction },
  } as const
  const errors = [
    'blocked_by_policy',
    'no_policy_allows',
    'archived',
    'changed_concurrently',
    'quorum_unreachable',
  ] as const
  const rules =
    'For administrators of the vault, and gated like any other update, by policies of action type `counterparty_update`; 202 with the ' +
    'approval request when votes are required.'

  api.send('put', 'replaceCounterpartyImage', '/vaults/:code/counterparties/:id/image', {
    summary: 'Replace the image of a counterparty',
    description: `${rules} Answers the counterparty, whose \`avatarUri\` is the address of the image. ${imageRules}`,
    ...spec,
    ...imageUpload,
    errors: [...errors, 'limit_reached'],
    handler: async ({ params: { id }, ...by }, http) => {
      const { vault } = by.member
      await readCounterparty(deps.db, vault.id, id)
      const avatarUri = await keepImageOf(deps.db, http.request, { type: 'counterparty', id }, by)
      return gate(http, { action, targetId: id, payload: { avatarUri } }, async (trx) =>
        ok(await readCounterparty(trx, vault.id, id)),
      )
    },
  })

  api.send('delete', 'deleteCounterpartyImage', '/vaults/:code/counterparties/:id/image', {
    summary: 'Delete the image of a counterparty',
    description: `${rules} Also one of another host is no longer named.`,
    ...spec,
    errors,
    handler: ({ params: { id }, ...by }, http) =>
      gate(http, { action, targetId: id, payload: { avatarUri: null } }, async (trx) => {
        await deleteImages(trx, { type: 'counterparty', id }, byMember(by))
        return ok(await readCounterparty(trx, by.member.vault.id, id))
      }),
  })
}
