import { addressScopeOf, ownScopeOf, visibleScopeOf } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { imageEndpoints } from '../../registry/images/endpoints.ts'
import { createGate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { updateAddress } from './actions.ts'
import { toAddress } from './present.ts'
import { findAddress, listAddresses } from './queries.ts'
import { Address, AddressCreation, AddressQuery, AddressUpdate } from './schema.ts'

export function addressRoutes(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Addresses', { access: 'member', scopes: { reads: 'read', writes: 'operate' } })

  imageEndpoints(api, '/vaults/:code/addresses/:id', {
    name: 'Address',
    noun: 'an address',
    who: 'Only for its owner. Returns the address, whose `logoUri` is the address of the image.',
    type: 'address',
    answer: Address,
    idOf: ({ params }) => params.id,
    change: async (trx, { params, ...by }, logoUri) => {
      const address = await updateAddress(trx, params.id, { logoUri }, by)
      return { body: toAddress(address, by.member), vaultId: by.member.vault.id }
    },
  })
  const gate = createGate(deps, executors)

  api.send.post('createAddress', '/vaults/:code/addresses', {
    summary: 'Create an address',
    description:
      'The next address for a combination of segments. Gated by policies of action type `create_address`; 202 with ' +
      'the approval request when votes are required. When the wallet service fails the answer is 502 and nothing is ' +
      'stored; requests that wait behind an unanswered request get 503. A retry takes the same index.',
    body: AddressCreation,
    answers: { 201: Address, 202: WaitingAction },
    errors: [
      'blocked_by_policy',
      'no_policy_allows',
      'already_exists',
      'disabled',
      'limit_reached',
      'quorum_unreachable',
      'vault_halted',
      'vault_is_draft',
      'wallet_service_failed',
      'wallet_service_silent',
    ],
    handler: ({ member, body }, http) =>
      gate(http, { action: 'create_address', payload: body }, async (trx, id) =>
        toAddress((await findAddress(trx, ownScopeOf(member), id))!, member),
      ),
  })

  api.list('listAddresses', '/vaults/:code/addresses', {
    summary: 'List addresses',
    description:
      'Newest first: those of the caller, those shared with the caller (`access`), or those of a folder (`folderId`); ' +
      'for administrators and auditors those of the whole vault.',
    errors: ['administrator_required'],
    querystring: AddressQuery,
    item: Address,
    load: (db, { member, query: { userId, access, folderId, ...filter } }, page) =>
      listAddresses(db, addressScopeOf(member, { userId, access, folderId }), filter, page),
    present: (row, { member }) => toAddress(row, member),
  })

  api.get('getAddress', '/vaults/:code/addresses/:id', {
    summary: 'Get an address',
    description:
      'With its balances. For its owner, the people with whom it is shared, administrators and auditors; 404 for ' +
      'everybody else.',
    answers: { 200: Address },
    handler: async (db, { member, params }) =>
      toAddress(orNotFound(await findAddress(db, visibleScopeOf(member), params.id), 'Address'), member),
  })

  api.patch('updateAddress', '/vaults/:code/addresses/:id', {
    summary: 'Update an address',
    description:
      'Label, description, tags and appearance. Only for its owner; 404 for everybody else, administrators included. ' +
      'null clears logo, colour and emoji.',
    body: AddressUpdate,
    answers: { 200: Address },
    handler: async (trx, { params, body, ...by }) =>
      toAddress(await updateAddress(trx, params.id, body, by), by.member),
  })
}
