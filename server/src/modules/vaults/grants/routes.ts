import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { created, ok } from '../../../http/mutate.ts'
import { forbidden } from '../../../lib/errors.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { findAddress } from '../addresses/queries.ts'
import { shareAddress, unshareAddress } from './actions.ts'
import { toAddressGrant } from './present.ts'
import { listGrants } from './queries.ts'
import { AddressGrant, GrantCreation, grantParams } from './schema.ts'

export function addressGrantRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Sharing', { access: 'member', scopes: { reads: 'read', writes: 'rules' } })

  api.list('listAddressGrants', '/vaults/:code/addresses/:id/grants', {
    summary: 'List grants of an address',
    description:
      'For its owner, administrators and auditors, newest first. Access that comes from a folder is listed with the grants ' +
      'of the folder.',
    errors: ['not_permitted'],
    item: AddressGrant,
    load: async (db, { member, params }, page) => {
      const scope = visibleScopeOf(member)
      const address = orNotFound(await findAddress(db, scope, params.id), 'Address')
      if (address.owner_id !== member.userId && !member.readsAll) {
        throw forbidden(
          'not_permitted',
          'Only the owner of an address, administrators and auditors may read its grants',
        )
      }
      return listGrants(db, scope, { type: 'address', id: address.id }, page)
    },
    present: toAddressGrant,
  })

  api.post('createAddressGrant', '/vaults/:code/addresses/:id/grants', {
    summary: 'Share an address',
    description:
      'Only for its owner. Grants a member or a group of the vault the right to view the address, and with ' +
      '`canTransfer` to transfer from it. 200 when the subject already had a grant; its rights are replaced.',
    errors: ['not_permitted'],
    body: GrantCreation,
    answers: { 200: AddressGrant, 201: AddressGrant },
    handler: async (trx, { params, body, ...by }) => {
      const { row, isNew } = await shareAddress(trx, params.id, body, by)
      return isNew ? created(toAddressGrant(row)) : ok(toAddressGrant(row))
    },
  })

  api.delete('deleteAddressGrant', '/vaults/:code/addresses/:id/grants/:grantId', {
    summary: 'Revoke a grant on an address',
    description: 'Only for its owner. Takes effect with the next request of the grantee.',
    errors: ['not_permitted'],
    params: grantParams,
    answers: { 204: null },
    handler: (trx, { params: { id, grantId }, ...by }) => unshareAddress(trx, id, grantId, by),
  })
}
