import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { endpoints } from '../../../http/endpoints.ts'
import { created, noContent, ok } from '../../../http/mutate.ts'
import type { App } from '../../../http/route.ts'
import { VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
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

const ofVault = { access: 'member', params: VaultParams } as const
const ofFolder = { access: 'member', params: VaultAndIdParams } as const

export function addressGroupRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Sharing')

  api.list(
    '/vaults/:code/address-groups',
    {
      operationId: 'listAddressGroups',
      summary: 'Folders, newest first',
      description: 'Those that the caller manages, was granted, or administers.',
      ...ofVault,
      querystring: AddressGroupQuery,
      item: AddressGroup,
    },
    (db, { member }, page) => listAddressGroups(db, visibleScopeOf(member), page),
    toAddressGroup,
  )

  api.post(
    '/vaults/:code/address-groups',
    {
      operationId: 'createAddressGroup',
      summary: 'Create a folder',
      description: 'Any member may; they manage it.',
      ...ofVault,
      body: AddressGroupCreation,
      answers: { 201: AddressGroup },
      errors: [409],
    },
    async (trx, { body, ...by }) => created(toAddressGroup(await createAddressGroup(trx, body, by))),
  )

  api.get(
    '/vaults/:code/address-groups/:id',
    { operationId: 'getAddressGroup', summary: 'One folder', ...ofFolder, answers: { 200: AddressGroup } },
    async (db, { member, params }) => toAddressGroup(await getAddressGroup(db, member, params.id)),
  )

  api.patch(
    '/vaults/:code/address-groups/:id',
    {
      operationId: 'updateAddressGroup',
      summary: 'Change name and looks of a folder',
      description: 'By its manager. What is in it and its grants have endpoints of their own.',
      ...ofFolder,
      body: AddressGroupUpdate,
      answers: { 200: AddressGroup },
      errors: [409],
    },
    async (trx, { params, body, ...by }) => ok(toAddressGroup(await updateAddressGroup(trx, params.id, body, by))),
  )

  api.delete(
    '/vaults/:code/address-groups/:id',
    {
      operationId: 'deleteAddressGroup',
      summary: 'Delete a folder with its grants',
      description: 'By its manager. The addresses stay; 409 while a rule of a policy names the folder.',
      ...ofFolder,
      answers: { 204: null },
      errors: [409],
    },
    async (trx, { params, ...by }) => {
      await deleteAddressGroup(trx, params.id, by)
      return noContent()
    },
  )

  api.list(
    '/vaults/:code/address-groups/:id/members',
    {
      operationId: 'listAddressGroupMembers',
      summary: 'Addresses in a folder, the latest first',
      ...ofFolder,
      querystring: AddressGroupQuery,
      item: AddressGroupMember,
    },
    async (db, { member, params }, page) => {
      const { id } = await getAddressGroup(db, member, params.id)
      return listAddressGroupMembers(db, visibleScopeOf(member), id, page)
    },
    toAddressGroupMember,
    (row) => ({ createdAt: row.created_at, id: row.address_id }),
  )

  api.post(
    '/vaults/:code/address-groups/:id/members',
    {
      operationId: 'addAddressGroupMember',
      summary: "Put an address of one's own into a folder",
      description: 'By its manager. Whoever the folder is shared with sees the address from then on.',
      ...ofFolder,
      body: AddressGroupMemberCreation,
      answers: { 201: AddressGroupMember },
      errors: [409],
    },
    async (trx, { params, body, ...by }) =>
      created(toAddressGroupMember(await addAddress(trx, params.id, body.addressId, by))),
  )

  api.delete(
    '/vaults/:code/address-groups/:id/members/:addressId',
    {
      operationId: 'removeAddressGroupMember',
      summary: 'Take an address out of a folder',
      description: 'By its manager. Whoever saw it by the folder only does not see it any more.',
      access: 'member',
      params: AddressGroupMemberParams,
      answers: { 204: null },
      errors: [409],
    },
    async (trx, { params: { id, addressId }, ...by }) => {
      await removeAddress(trx, id, addressId, by)
      return noContent()
    },
  )

  api.list(
    '/vaults/:code/address-groups/:id/grants',
    {
      operationId: 'listAddressGroupGrants',
      summary: 'With whom a folder is shared, the latest first',
      description: 'For its manager and administrators.',
      ...ofFolder,
      querystring: GrantQuery,
      item: AddressGroupGrant,
    },
    async (db, { member, params }, page) => {
      const group = await getAddressGroup(db, member, params.id)
      if (group.access !== 'manager' && !member.isAdmin) {
        throw forbidden('Only the manager of a folder and administrators see with whom it is shared')
      }
      return listGrants(db, visibleScopeOf(member), { type: 'address_group', id: group.id }, page)
    },
    toAddressGroupGrant,
  )

  api.post(
    '/vaults/:code/address-groups/:id/grants',
    {
      operationId: 'createAddressGroupGrant',
      summary: 'Share a folder with the addresses that are in it',
      description:
        'By its manager, with a member or a group of the vault, for as long as an address is in the folder. 200 when the subject had a grant already, whose rights these replace.',
      ...ofFolder,
      body: GrantCreation,
      answers: { 200: AddressGroupGrant, 201: AddressGroupGrant },
      errors: [409],
    },
    async (trx, { params, body, ...by }) => {
      const { row, isNew } = await shareAddressGroup(trx, params.id, body, by)
      return isNew ? created(toAddressGroupGrant(row)) : ok(toAddressGroupGrant(row))
    },
  )

  api.delete(
    '/vaults/:code/address-groups/:id/grants/:grantId',
    {
      operationId: 'deleteAddressGroupGrant',
      summary: 'Take back what was granted on a folder',
      access: 'member',
      params: GrantParams,
      answers: { 204: null },
      errors: [409],
    },
    async (trx, { params: { id, grantId }, ...by }) => {
      await unshareAddressGroup(trx, id, grantId, by)
      return noContent()
    },
  )
}

async function getAddressGroup(db: Db, member: Member, id: string): Promise<AddressGroupRow> {
  const row = await findAddressGroup(db, visibleScopeOf(member), id)
  if (row === null) throw notFound('Address group')
  return row
}
