import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { created, ok } from '../../../http/mutate.ts'
import { forbidden } from '../../../lib/errors.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { governedIn } from '../../rules/governance/govern.ts'
import { listGrants } from '../grants/queries.ts'
import { GrantCreation, grantParams } from '../grants/schema.ts'
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
import { getAddressGroup, listAddressGroupMembers, listAddressGroups } from './queries.ts'
import {
  AddressGroup,
  AddressGroupCreation,
  AddressGroupGrant,
  AddressGroupMember,
  AddressGroupMemberCreation,
  AddressGroupUpdate,
  addressGroupMemberParams,
} from './schema.ts'

export function addressGroupRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Sharing', { access: 'member', scopes: { reads: 'read', writes: 'rules' } })
  const governed = governedIn(deps)

  api.list('listAddressGroups', '/vaults/:code/address-groups', {
    summary: 'List folders',
    description:
      'Newest first. Returns the folders that the caller manages or that are shared with the caller; for administrators, all ' +
      'folders of the vault.',
    item: AddressGroup,
    load: (db, { member }, page) => listAddressGroups(db, visibleScopeOf(member), page),
    present: toAddressGroup,
  })

  api.post('createAddressGroup', '/vaults/:code/address-groups', {
    summary: 'Create a folder',
    description: 'For members of the vault. The caller becomes its manager.',
    body: AddressGroupCreation,
    answers: { 201: AddressGroup },
    handler: async (trx, { body, ...by }) => toAddressGroup(await createAddressGroup(trx, body, by)),
  })

  api.get('getAddressGroup', '/vaults/:code/address-groups/:id', {
    summary: 'Get a folder',
    description:
      'For its manager, the people with whom it is shared, administrators and auditors; 404 for everybody else.',
    answers: { 200: AddressGroup },
    handler: async (db, { member, params }) =>
      toAddressGroup(await getAddressGroup(db, visibleScopeOf(member), params.id)),
  })

  api.patch('updateAddressGroup', '/vaults/:code/address-groups/:id', {
    summary: 'Update a folder',
    description:
      'Name, description and appearance. Only for its manager. Its addresses and grants have endpoints of their own. ' +
      'The name and the addresses of a folder that a rule of a policy names belong to the rules: in a vault with ' +
      'governance a change of them waits for votes (202), and only administrators may request it.',
    errors: ['not_permitted', 'administrator_required', 'limit_reached', 'quorum_unreachable'],
    body: AddressGroupUpdate,
    confirmed: 'where protected',
    answers: { 200: AddressGroup, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed(trx, by, ['address_group_update', params.id, body], async () =>
        toAddressGroup(await updateAddressGroup(trx, params.id, body, by)),
      ),
  })

  api.delete('deleteAddressGroup', '/vaults/:code/address-groups/:id', {
    summary: 'Delete a folder',
    description:
      'Only for its manager. Its grants end; its addresses stay. 409 while a rule of a policy names the folder.',
    errors: ['not_permitted', 'in_use'],
    answers: { 204: null },
    handler: (trx, { params, ...by }) => deleteAddressGroup(trx, params.id, by),
  })

  api.list('listAddressGroupMembers', '/vaults/:code/address-groups/:id/members', {
    summary: 'List addresses in a folder',
    description: 'Most recently added first. For everybody who sees the folder.',
    item: AddressGroupMember,
    load: async (db, { member, params }, page) => {
      const { id } = await getAddressGroup(db, visibleScopeOf(member), params.id)
      return listAddressGroupMembers(db, visibleScopeOf(member), id, page)
    },
    present: toAddressGroupMember,
    position: (row) => ({ createdAt: row.created_at, id: row.address_id }),
  })

  api.post('addAddressGroupMember', '/vaults/:code/address-groups/:id/members', {
    summary: 'Add an address to a folder',
    description:
      'Only for its manager, and only with an address that the manager owns. Everybody with whom the folder is shared ' +
      'sees the address from then on.',
    errors: ['not_permitted', 'administrator_required', 'already_exists', 'limit_reached', 'quorum_unreachable'],
    body: AddressGroupMemberCreation,
    confirmed: 'where protected',
    answers: { 201: AddressGroupMember, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed(trx, by, ['address_group_member_add', params.id, body], async () =>
        toAddressGroupMember(await addAddress(trx, params.id, body.addressId, by)),
      ),
  })

  api.delete('removeAddressGroupMember', '/vaults/:code/address-groups/:id/members/:addressId', {
    summary: 'Remove an address from a folder',
    description: 'Only for its manager. People who saw the address only through the folder no longer see it.',
    errors: ['not_permitted', 'administrator_required', 'limit_reached', 'quorum_unreachable'],
    params: addressGroupMemberParams,
    confirmed: 'where protected',
    answers: { 202: WaitingAction, 204: null },
    handler: (trx, { params: { id, addressId }, ...by }) =>
      governed(trx, by, ['address_group_member_remove', id, { addressId }], () =>
        removeAddress(trx, id, addressId, by),
      ),
  })

  api.list('listAddressGroupGrants', '/vaults/:code/address-groups/:id/grants', {
    summary: 'List grants of a folder',
    description: 'For its manager, administrators and auditors, newest first.',
    errors: ['not_permitted'],
    item: AddressGroupGrant,
    load: async (db, { member, params }, page) => {
      const group = await getAddressGroup(db, visibleScopeOf(member), params.id)
      if (group.access !== 'manager' && !member.readsAll) {
        throw forbidden(
          'not_permitted',
          'Only the manager of a folder, administrators and auditors may read its grants',
        )
      }
      return listGrants(db, visibleScopeOf(member), { type: 'address_group', id: group.id }, page)
    },
    present: toAddressGroupGrant,
  })

  api.post('createAddressGroupGrant', '/vaults/:code/address-groups/:id/grants', {
    summary: 'Share a folder',
    description:
      'Only for its manager. Shares the addresses in the folder with a member or a group of the vault, each for as ' +
      'long as it is in the folder. 200 when the subject already had a grant; its rights are replaced.',
    errors: ['not_permitted'],
    body: GrantCreation,
    answers: { 200: AddressGroupGrant, 201: AddressGroupGrant },
    handler: async (trx, { params, body, ...by }) => {
      const { row, isNew } = await shareAddressGroup(trx, params.id, body, by)
      return isNew ? created(toAddressGroupGrant(row)) : ok(toAddressGroupGrant(row))
    },
  })

  api.delete('deleteAddressGroupGrant', '/vaults/:code/address-groups/:id/grants/:grantId', {
    summary: 'Revoke a grant on a folder',
    description: 'Only for its manager. Takes effect with the next request of the grantee.',
    errors: ['not_permitted'],
    params: grantParams,
    answers: { 204: null },
    handler: (trx, { params: { id, grantId }, ...by }) => unshareAddressGroup(trx, id, grantId, by),
  })
}
