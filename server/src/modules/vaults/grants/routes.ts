import { ownScopeOf, visibleScopeOf } from '../../../access/address-scope.ts'
import { type Member, memberOf } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { created, mutate, noContent, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { PageOf, Ref, VaultAndIdParams } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { forbidden, notFound } from '../../../lib/errors.ts'
import { findAddress } from '../addresses/queries.ts'
import { grantAccess, revokeAccess } from './actions.ts'
import { toAddressGrant } from './present.ts'
import { listGrants, type Shared } from './queries.ts'
import { AddressGrant, GrantCreation, GrantParams, GrantQuery } from './schema.ts'

const tag = 'Sharing'

export function addressGrantRoutes(app: App, deps: Deps): void {
  app.get(
    '/vaults/:code/addresses/:id/grants',
    route({
      operationId: 'listAddressGrants',
      summary: 'With whom an address is shared, the latest first',
      description: 'For its owner and administrators. What is shared by a folder is told by the grants of the folder.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      querystring: GrantQuery,
      answers: { 200: PageOf(Ref(AddressGrant)) },
    }),
    async (request) => {
      const member = memberOf(request)
      const scope = visibleScopeOf(member)
      const address = await findAddress(deps.db, scope, request.params.id)
      if (address === null) throw notFound('Address')
      if (address.owner_id !== member.userId && !member.isAdmin) {
        throw forbidden('Only the owner of an address and administrators see with whom it is shared')
      }
      const { after, limit } = pageOf(request.query)
      const rows = await listGrants(deps.db, scope, { type: 'address', id: address.id }, { after, limit })
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }), toAddressGrant)
    },
  )

  app.post(
    '/vaults/:code/addresses/:id/grants',
    route({
      operationId: 'createAddressGrant',
      summary: "Share one's own address",
      description:
        'With a member or a group of the vault: to see it, and with `canTransfer` to move its funds. 200 when the subject had a grant already, whose rights these replace.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: GrantCreation,
      answers: { 200: Ref(AddressGrant), 201: Ref(AddressGrant) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) => {
        const address = await getOwnAddress(trx, member, request.params.id)
        const { row, isNew } = await grantAccess(trx, address, request.body, { member, now: deps.clock() })
        return (isNew ? created : ok)(toAddressGrant(row))
      })
    },
  )

  app.delete(
    '/vaults/:code/addresses/:id/grants/:grantId',
    route({
      operationId: 'deleteAddressGrant',
      summary: "Take back what was granted on one's own address",
      tag,
      access: 'member',
      params: GrantParams,
      answers: { 204: null },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      const { id, grantId } = request.params
      return mutate(deps, request, reply, async (trx) => {
        await revokeAccess(trx, await getOwnAddress(trx, member, id), grantId, { member, now: deps.clock() })
        return noContent()
      })
    },
  )
}

/** @throws 404 for the address of anybody else, administrator or not, as when it is changed */
async function getOwnAddress(trx: Trx, member: Member, id: string): Promise<Shared> {
  if ((await findAddress(trx, ownScopeOf(member), id)) === null) throw notFound('Address')
  return { type: 'address', id }
}
