import { addressScopeOf, ownScopeOf, visibleScopeOf } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { created, ok } from '../../../http/mutate.ts'
import { VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { imageEndpoints } from '../../registry/images/endpoints.ts'
import { createGate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { updateAddress } from './actions.ts'
import { toAddress } from './present.ts'
import { findAddress, listAddresses } from './queries.ts'
import { Address, AddressCreation, AddressQuery, AddressUpdate } from './schema.ts'

const ofVault = { access: 'member', params: VaultParams } as const
const ofAddress = { access: 'member', params: VaultAndIdParams } as const

export function addressRoutes(app: App, deps: Deps, executors: Executors): void {
  images(app, deps)
  const api = endpoints(app, deps, 'Addresses')
  const gate = createGate(deps, executors)

  api.send(
    'post',
    '/vaults/:code/addresses',
    {
      operationId: 'createAddress',
      summary: 'Create an address',
      description:
        'The next address for a combination of segments. Gated by policies of action type `create_address`; 202 with ' +
        'the approval request when votes are required. When the wallet service fails the answer is 502 and nothing is ' +
        'stored; requests that wait behind one that it does not answer get 503. A retry takes the same index.',
      ...ofVault,
      body: AddressCreation,
      answers: { 201: Address, 202: WaitingAction },
      errors: [
        'blocked_by_policy',
        'no_policy_allows',
        'already_exists',
        'disabled',
        'limit_reached',
        'quorum_unreachable',
        'vault_is_draft',
        'wallet_service_failed',
        'wallet_service_silent',
      ],
    },
    ({ member, body }, http) =>
      gate(http, { action: 'create_address', payload: body }, async (trx, id) =>
        created(toAddress((await findAddress(trx, ownScopeOf(member), id))!, member)),
      ),
  )

  api.list(
    '/vaults/:code/addresses',
    {
      operationId: 'listAddresses',
      summary: 'List addresses',
      description:
        'Newest first: those of the caller, those shared with the caller (`access`), or those of a folder (`folderId`); ' +
        'for administrators those of the whole vault.',
      ...ofVault,
      errors: ['administrator_required'],
      querystring: AddressQuery,
      item: Address,
    },
    (db, { member, query: { userId, access, folderId, ...filter } }, page) =>
      listAddresses(db, addressScopeOf(member, { userId, access, folderId }), filter, page),
    (row, { member }) => toAddress(row, member),
  )

  api.get(
    '/vaults/:code/addresses/:id',
    {
      operationId: 'getAddress',
      summary: 'Get an address',
      description:
        'With its balances. For its owner, the people with whom it is shared, and administrators; 404 for everybody else.',
      ...ofAddress,
      answers: { 200: Address },
    },
    async (db, { member, params }) => {
      return toAddress(orNotFound(await findAddress(db, visibleScopeOf(member), params.id), 'Address'), member)
    },
  )

  api.patch(
    '/vaults/:code/addresses/:id',
    {
      operationId: 'updateAddress',
      summary: 'Update an address',
      description:
        'Label, description, tags and appearance. Only for its owner; 404 for everybody else, administrators included. ' +
        'null clears logo, colour and emoji.',
      ...ofAddress,
      body: AddressUpdate,
      answers: { 200: Address },
    },
    async (trx, { params, body, ...by }) => ok(toAddress(await updateAddress(trx, params.id, body, by), by.member)),
  )
}

function images(app: App, deps: Deps): void {
  imageEndpoints(
    endpoints(app, deps, 'Addresses'),
    {
      path: '/vaults/:code/addresses/:id',
      name: 'Address',
      noun: 'an address',
      who: 'Only for its owner. Answers the address, whose `logoUri` is the address of the image.',
      type: 'address',
      ...ofAddress,
      answer: Address,
    },
    ({ params }) => params.id,
    async (trx, { params, ...by }, logoUri) => {
      const address = await updateAddress(trx, params.id, { logoUri }, by)
      return { body: toAddress(address, by.member), vaultId: by.member.vault.id }
    },
  )
}
