import { addressScopeOf, ownScopeOf, visibleScopeOf } from '../../../access/address-scope.ts'
import { memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { created, mutate, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { PageOf, Ref, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { notFound } from '../../../lib/errors.ts'
import { gate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import type { Appliers } from '../../rules/votes/applier.ts'
import { updateAddress } from './actions.ts'
import { toAddress } from './present.ts'
import { findAddress, listAddresses } from './queries.ts'
import { Address, AddressCreation, AddressQuery, AddressUpdate } from './schema.ts'

const tag = 'Addresses'

export function addressRoutes(app: App, deps: Deps, appliers: Appliers): void {
  app.post(
    '/vaults/:code/addresses',
    route({
      operationId: 'createAddress',
      summary: 'Create the next address of a combination of segments',
      description:
        'Gated by policies of action type create_address; 202 when it waits for votes. A failing wallet service is a 502 and leaves nothing behind; creations that wait behind one that it does not answer are a 503, and a retry takes the same index.',
      tag,
      access: 'member',
      params: VaultParams,
      body: AddressCreation,
      answers: { 201: Ref(Address), 202: Ref(WaitingAction) },
      errors: [409, 502],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return gate(
        deps,
        { request, reply },
        {
          action: 'create_address',
          payload: request.body,
          appliers,
          applied: async (trx, id) => created(toAddress((await findAddress(trx, ownScopeOf(member), id))!, member)),
        },
      )
    },
  )

  app.get(
    '/vaults/:code/addresses',
    route({
      operationId: 'listAddresses',
      summary: 'Addresses, newest first',
      description:
        'Those of the caller, those that others share with them (`access`), or those of a folder; administrators see the whole vault.',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: AddressQuery,
      answers: { 200: PageOf(Ref(Address)) },
    }),
    async (request) => {
      const member = memberOf(request)
      const { userId, access, folderId, ...filter } = request.query
      const scope = addressScopeOf(member, { userId, access, folderId })
      const { after, limit } = pageOf(request.query)
      const rows = await listAddresses(deps.db, scope, filter, { after, limit })
      return toPage(
        rows,
        limit,
        (row) => ({ createdAt: row.created_at, id: row.id }),
        (row) => toAddress(row, member),
      )
    },
  )

  app.get(
    '/vaults/:code/addresses/:id',
    route({
      operationId: 'getAddress',
      summary: 'Read an address with its balances',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(Address) },
    }),
    async (request) => {
      const member = memberOf(request)
      const row = await findAddress(deps.db, visibleScopeOf(member), request.params.id)
      if (row === null) throw notFound('Address')
      return toAddress(row, member)
    },
  )

  app.patch(
    '/vaults/:code/addresses/:id',
    route({
      operationId: 'updateAddress',
      summary: "Change label and looks of one's own address",
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: AddressUpdate,
      answers: { 200: Ref(Address) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) =>
        ok(toAddress(await updateAddress(trx, request.params.id, request.body, { member, now: deps.clock() }), member)),
      )
    },
  )
}
