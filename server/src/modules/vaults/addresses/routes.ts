import { addressScopeOf, ownScopeOf, visibleScopeOf } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { endpoints } from '../../../http/endpoints.ts'
import { created, ok } from '../../../http/mutate.ts'
import type { App } from '../../../http/route.ts'
import { VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { notFound } from '../../../lib/errors.ts'
import { gate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { toAddress } from './present.ts'
import { findAddress, listAddresses } from './queries.ts'
import { Address, AddressCreation, AddressQuery, AddressUpdate } from './schema.ts'
import { updateAddress } from './update.ts'

const ofVault = { access: 'member', params: VaultParams } as const
const ofAddress = { access: 'member', params: VaultAndIdParams } as const

export function addressRoutes(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Addresses')

  api.send(
    'post',
    '/vaults/:code/addresses',
    {
      operationId: 'createAddress',
      summary: 'Create the next address of a combination of segments',
      description:
        'Gated by policies of action type create_address; 202 when it waits for votes. A failing wallet service is a 502 and leaves nothing behind; creations that wait behind one that it does not answer are a 503, and a retry takes the same index.',
      ...ofVault,
      body: AddressCreation,
      answers: { 201: Address, 202: WaitingAction },
      errors: [409, 502],
    },
    ({ member, body }, http) =>
      gate(deps, http, {
        action: 'create_address',
        payload: body,
        executors,
        applied: async (trx, id) => created(toAddress((await findAddress(trx, ownScopeOf(member), id))!, member)),
      }),
  )

  api.list(
    '/vaults/:code/addresses',
    {
      operationId: 'listAddresses',
      summary: 'Addresses, newest first',
      description:
        'Those of the caller, those that others share with them (`access`), or those of a folder; administrators see the whole vault.',
      ...ofVault,
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
      summary: 'Read an address with its balances',
      ...ofAddress,
      answers: { 200: Address },
    },
    async (db, { member, params }) => {
      const row = await findAddress(db, visibleScopeOf(member), params.id)
      if (row === null) throw notFound('Address')
      return toAddress(row, member)
    },
  )

  api.patch(
    '/vaults/:code/addresses/:id',
    {
      operationId: 'updateAddress',
      summary: "Change label and looks of one's own address",
      ...ofAddress,
      body: AddressUpdate,
      answers: { 200: Address },
      errors: [409],
    },
    async (trx, { params, body, ...by }) => ok(toAddress(await updateAddress(trx, params.id, body, by), by.member)),
  )
}
