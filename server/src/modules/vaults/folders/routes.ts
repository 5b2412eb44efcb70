import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { created, ok } from '../../../http/mutate.ts'
import { VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { forbidden } from '../../../lib/errors.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
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
      summary: 'List folders',
      description: 'Newest first. Folders that the caller manages or was granted; for administrators all of the vault.',
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
      description: 'For members of the vault. The caller becomes its manager.',
      ...ofVault,
      body: AddressGroupCreation,
      answers: { 201: AddressGroup },
    },
    async (trx, { body, ...by }) => created(toAddressGroup(await createAddressGroup(trx, body, by))),
  )

  api.get(
    '/vaults/:code/address-groups/:id',
    {
      operationId: 'getAddressGroup',
      summary: 'Get a folder',
      description: 'For its manager, the people with whom it is shared, and administrators; 404 for everybody else.',
      ...ofFolder,
      answers: { 200: AddressGroup },
    },
    async (db, { member, params }) => toAddressGroup(await getAddressGroup(db, member, params.id)),
  )

  api.patch(
    '/vaults/:code/address-groups/:id',
    {
      operationId: 'updateAddressGroup',
      summary: 'Update a folder',
      description:
        'Name, description and appearance. Only for its manager. Its addresses and grants have endpoints of their own.',
      ...ofFolder,
      errors: ['not_permitted'],
      body: AddressGroupUpdate,
      answers: { 200: AddressGroup },
    },
    async (trx, { params, body, ...by }) => ok(toAddressGroup(await updateAddressGroup(trx, params.id, body, by))),
  )

  api.delete(
    '/vaults/:code/address-groups/:id',
    {
      operationId: 'deleteAddressGroup',
      summary: 'Delete a folder',
      description:
        'Only for its manager. Its grants end; its addresses stay. 409 while a rule of a policy names the folder.',
      ...ofFolder,
      errors: ['not_permitted', 'in_use'],
      answers: { 204: null },
    },
    (trx, { params, ...by }) => deleteAddressGroup(trx, params.id, by),
  )

  api.list(
    '/vaults/:code/address-groups/:id/members',
    {
      operationId: 'listAddressGroupMembers',
      summary: 'List addresses in a folder',
      description: 'Most recently added first. For everybody who sees the folder.',
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
      summary: 'Add an address to a folder',
      description:
        'Only for its manager, and only with an address that the manager owns. Everybody with whom the folder is shared ' +
        'sees the address from then on.',
      ...ofFolder,
      errors: ['not_permitted', 'already_exists'],
      body: AddressGroupMemberCreation,
      answers: { 201: AddressGroupMember },
    },
    async (trx, { params, body, ...by }) =>
      created(toAddressGroupMember(await addAddress(trx, params.id, body.addressId, by))),
  )

  api.delete(
    '/vaults/:code/address-groups/:id/members/:addressId',
    {
      operationId: 'removeAddressGroupMember',
      summary: 'Remove an address from a folder',
      description: 'Only for its manager. People who saw the address only through the folder no longer see it.',
      access: 'member',
      errors: ['not_permitted'],
      params: AddressGroupMemberParams,
      answers: { 204: null },
    },
    (trx, { params: { id, addressId }, ...by }) => removeAddress(trx, id, addressId, by),
  )

  api.list(
    '/vaults/:code/address-groups/:id/grants',
    {
      operationId: 'listAddressGroupGrants',
      summary: 'List grants of a folder',
      description: 'For its manager and administrators, newest first.',
      ...ofFolder,
      errors: ['not_permitted'],
      querystring: GrantQuery,
      item: AddressGroupGrant,
    },
    async (db, { member, params }, page) => {
      const group = await getAddressGroup(db, member, params.id)
      if (group.access !== 'manager' && !member.readsAll) {
        throw forbidden(
          'not_permitted',
          'Only the manager of a folder, administrators and auditors may read its grants',
        )
      }
      return listGrants(db, visibleScopeOf(member), { type: 'address_group', id: group.id }, page)
    },
    toAddressGroupGrant,
  )

  api.post(
    '/vaults/:code/address-groups/:id/grants',
    {
      operationId: 'createAddressGroupGrant',
      summary: 'Share a folder',
      description:
        'Only for its manager. Shares the addresses in the folder with a member or a group of the vault, each for as ' +
        'long as it is in the folder. 200 when the subject had a grant, whose rights are replaced.',
      ...ofFolder,
      errors: ['not_permitted'],
      body: GrantCreation,
      answers: { 200: AddressGroupGrant, 201: AddressGroupGrant },
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
      summary: 'Revoke a grant on a folder',
      description: 'Only for its manager. Takes effect with the next request of the grantee.',
      access: 'member',
      errors: ['not_permitted'],
      params: GrantParams,
      answers: { 204: null },
    },
    (trx, { params: { id, grantId }, ...by }) => unshareAddressGroup(trx, id, grantId, by),
  )
}

async function getAddressGroup(db: Db, member: Member, id: string): Promise<AddressGroupRow> {
  return orNotFound(await findAddressGroup(db, visibleScopeOf(member), id), 'Address group')
}
