import { visibleScopeOf } from '../../../access/address-scope.ts'
import { type Member, memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { created, mutate, noContent, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { PageOf, Ref, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { forbidden, notFound } from '../../../lib/errors.ts'
import { listGrants } from '../grants/queries.ts'
import { GrantCreation, GrantParams, GrantQuery } from '../grants/schema.ts'
import {
  addAddress,
  createAddressGroup,
  deleteAddressGroup,
  removeAddress,
  shareAddressGroup,
  unshareAddressGroup,
  updateAddressGroup,
} from './actions.ts'
import { toAddressGroup, toAddressGroupGrant, toAddressGroupMember } from './present.ts'
import { type AddressGroupRow, findAddressGroup, listAddressGroupMembers, listAddressGroups } from './queries.ts'
import {
  AddressGroup,
  AddressGroupCreation,
  AddressGroupGrant,
  AddressGroupMember,
  AddressGroupMemberCreation,
  AddressGroupMemberParams,
  AddressGroupQuery,
  AddressGroupUpdate,
} from './schema.ts'

const tag = 'Sharing'

export function addressGroupRoutes(app: App, deps: Deps): void {
  app.get(
    '/vaults/:code/address-groups',
    route({
      operationId: 'listAddressGroups',
      summary: 'Folders, newest first',
      description: 'Those that the caller manages, was granted, or administers.',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: AddressGroupQuery,
      answers: { 200: PageOf(Ref(AddressGroup)) },
    }),
    async (request) => {
      const { after, limit } = pageOf(request.query)
      const rows = await listAddressGroups(deps.db, visibleScopeOf(memberOf(request)), { after, limit })
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }), toAddressGroup)
    },
  )

  app.post(
    '/vaults/:code/address-groups',
    route({
      operationId: 'createAddressGroup',
      summary: 'Create a folder',
      description: 'Any member may; they manage it.',
      tag,
      access: 'member',
      params: VaultParams,
      body: AddressGroupCreation,
      answers: { 201: Ref(AddressGroup) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) =>
        created(toAddressGroup(await createAddressGroup(trx, request.body, { member, now: deps.clock() }))),
      )
    },
  )

  app.get(
    '/vaults/:code/address-groups/:id',
    route({
      operationId: 'getAddressGroup',
      summary: 'One folder',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(AddressGroup) },
    }),
    async (request) => toAddressGroup(await getAddressGroup(deps, memberOf(request), request.params.id)),
  )

  app.patch(
    '/vaults/:code/address-groups/:id',
    route({
      operationId: 'updateAddressGroup',
      summary: 'Change name and looks of a folder',
      description: 'By its manager. What is in it and its grants have endpoints of their own.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: AddressGroupUpdate,
      answers: { 200: Ref(AddressGroup) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) => {
        const by = { member, now: deps.clock() }
        return ok(toAddressGroup(await updateAddressGroup(trx, request.params.id, request.body, by)))
      })
    },
  )

  app.delete(
    '/vaults/:code/address-groups/:id',
    route({
      operationId: 'deleteAddressGroup',
      summary: 'Delete a folder with its grants',
      description: 'By its manager. The addresses stay; 409 while a rule of a policy names the folder.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 204: null },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) => {
        await deleteAddressGroup(trx, request.params.id, { member, now: deps.clock() })
        return noContent()
      })
    },
  )

  app.get(
    '/vaults/:code/address-groups/:id/members',
    route({
      operationId: 'listAddressGroupMembers',
      summary: 'Addresses in a folder, the latest first',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      querystring: AddressGroupQuery,
      answers: { 200: PageOf(Ref(AddressGroupMember)) },
    }),
    async (request) => {
      const member = memberOf(request)
      const { id } = await getAddressGroup(deps, member, request.params.id)
      const { after, limit } = pageOf(request.query)
      const rows = await listAddressGroupMembers(deps.db, visibleScopeOf(member), id, { after, limit })
      const position = (row: (typeof rows)[number]) => ({ createdAt: row.created_at, id: row.address_id })
      return toPage(rows, limit, position, toAddressGroupMember)
    },
  )

  app.post(
    '/vaults/:code/address-groups/:id/members',
    route({
      operationId: 'addAddressGroupMember',
      summary: "Put an address of one's own into a folder",
      description: 'By its manager. Whoever the folder is shared with sees the address from then on.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: AddressGroupMemberCreation,
      answers: { 201: Ref(AddressGroupMember) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) => {
        const by = { member, now: deps.clock() }
        return created(toAddressGroupMember(await addAddress(trx, request.params.id, request.body.addressId, by)))
      })
    },
  )

  app.delete(
    '/vaults/:code/address-groups/:id/members/:addressId',
    route({
      operationId: 'removeAddressGroupMember',
      summary: 'Take an address out of a folder',
      description: 'By its manager. Whoever saw it by the folder only does not see it any more.',
      tag,
      access: 'member',
      params: AddressGroupMemberParams,
      answers: { 204: null },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      const { id, addressId } = request.params
      return mutate(deps, request, reply, async (trx) => {
        await removeAddress(trx, id, addressId, { member, now: deps.clock() })
        return noContent()
      })
    },
  )

  app.get(
    '/vaults/:code/address-groups/:id/grants',
    route({
      operationId: 'listAddressGroupGrants',
      summary: 'With whom a folder is shared, the latest first',
      description: 'For its manager and administrators.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      querystring: GrantQuery,
      answers: { 200: PageOf(Ref(AddressGroupGrant)) },
    }),
    async (request) => {
      const member = memberOf(request)
      const group = await getAddressGroup(deps, member, request.params.id)
      if (group.access !== 'manager' && !member.isAdmin) {
        throw forbidden('Only the manager of a folder and administrators see with whom it is shared')
      }
      const { after, limit } = pageOf(request.query)
      const shared = { type: 'address_group', id: group.id } as const
      const rows = await listGrants(deps.db, visibleScopeOf(member), shared, { after, limit })
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }), toAddressGroupGrant)
    },
  )

  app.post(
    '/vaults/:code/address-groups/:id/grants',
    route({
      operationId: 'createAddressGroupGrant',
      summary: 'Share a folder with the addresses that are in it',
      description:
        'By its manager, with a member or a group of the vault, for as long as an address is in the folder. 200 when the subject had a grant already, whose rights these replace.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: GrantCreation,
      answers: { 200: Ref(AddressGroupGrant), 201: Ref(AddressGroupGrant) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) => {
        const by = { member, now: deps.clock() }
        const { row, isNew } = await shareAddressGroup(trx, request.params.id, request.body, by)
        return (isNew ? created : ok)(toAddressGroupGrant(row))
      })
    },
  )

  app.delete(
    '/vaults/:code/address-groups/:id/grants/:grantId',
    route({
      operationId: 'deleteAddressGroupGrant',
      summary: 'Take back what was granted on a folder',
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
        await unshareAddressGroup(trx, id, grantId, { member, now: deps.clock() })
        return noContent()
      })
    },
  )
}

async function getAddressGroup(deps: Deps, member: Member, id: string): Promise<AddressGroupRow> {
  const row = await findAddressGroup(deps.db, visibleScopeOf(member), id)
  if (row === null) throw notFound('Address group')
  return row
}
