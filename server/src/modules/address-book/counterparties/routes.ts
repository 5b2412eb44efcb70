import type { Static } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { AppError, faulty } from '../../../lib/errors.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { createGate, gatedBy, gateErrors } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { gatedImageEndpoints } from './image-endpoints.ts'
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
  gatedImageEndpoints(app, deps, executors, {
    kind: 'counterparty',
    path: 'counterparties',
    name: 'Counterparty',
    noun: 'a counterparty',
    answered: 'the counterparty',
    answer: Counterparty,
    read: readCounterparty,
  })
  const api = endpoints(app, deps, 'Counterparties', { access: 'member', scopes: { reads: 'read', writes: 'write' } })
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

  api.send.post('createCounterparty', '/vaults/:code/counterparties', {
    summary: 'Create a counterparty',
    description: `${gatedBy('counterparty_create')} 409 when an address belongs to another counterparty of the vault.`,
    errors: gateErrors('already_exists'),
    body: CounterpartyCreation,
    answers: { 201: Counterparty, 202: WaitingAction },
    handler: ({ body }, http) => gate(http, { action: 'counterparty_create', payload: body }, readCounterparty),
  })

  api.get('getCounterparty', '/vaults/:code/counterparties/:id', {
    summary: 'Get a counterparty',
    description: 'With its groups and addresses. For members of the vault.',
    answers: { 200: Counterparty },
    handler: (db, { member, params }) => readCounterparty(db, params.id, member),
  })

  api.send.patch('updateCounterparty', '/vaults/:code/counterparties/:id', {
    summary: 'Update a counterparty',
    description: `${gatedBy('counterparty_update')} \`addAddresses\` and \`removeAddressIds\` are part of the same decision.`,
    errors: gateErrors('already_exists', 'archived', 'changed_concurrently', 'held', 'limit_reached'),
    body: CounterpartyUpdate,
    answers: { 200: Counterparty, 202: WaitingAction },
    handler: ({ params, body }, http) =>
      gate(http, { action: 'counterparty_update', targetId: params.id, payload: body }, readCounterparty),
  })

  api.send.post('archiveCounterparty', '/vaults/:code/counterparties/:id/archive', {
    summary: 'Archive a counterparty',
    description:
      `${gatedBy('counterparty_archive')} Cannot be undone: the counterparty stays readable, cannot be changed, ` +
      'and no transfer to it is accepted.',
    errors: gateErrors('archived', 'changed_concurrently', 'held'),
    answers: { 200: Counterparty, 202: WaitingAction },
    handler: ({ params }, http) =>
      gate(http, { action: 'counterparty_archive', targetId: params.id, payload: {} }, readCounterparty),
  })

  api.send.post('addCounterpartyAddress', '/vaults/:code/counterparties/:id/addresses', {
    summary: 'Add an address to a counterparty',
    description:
      'Gated as an update, by policies of action type `counterparty_update`; 202 with the approval request when votes are ' +
      'required.',
    errors: gateErrors('already_exists', 'archived', 'changed_concurrently', 'held', 'limit_reached'),
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

  api.send.delete('removeCounterpartyAddress', '/vaults/:code/counterparties/:id/addresses/:addressId', {
    summary: 'Remove an address from a counterparty',
    description:
      'Gated as an update, by policies of action type `counterparty_update`; 202 with the approval request when votes are ' +
      'required.',
    errors: gateErrors('archived', 'changed_concurrently', 'held'),
    params: counterpartyAddressParams,
    answers: { 202: WaitingAction, 204: null },
    handler: ({ params: { id, addressId } }, http) =>
      gate(http, { action: 'counterparty_update', targetId: id, payload: { removeAddressIds: [addressId] } }),
  })
}

async function readCounterparty(db: Db | Trx, id: string, { vault }: Member): Promise<Static<typeof Counterparty>> {
  return toCounterparty(orNotFound(await findCounterparty(db, vault.id, id), 'Counterparty'))
}

/** Runs `work` and reports its errors with the paths of the request. The payload of the action nests the body. */
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
