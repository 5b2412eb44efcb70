import type { Trx } from '../../../db/client.ts'
import type { FieldFault } from '../../../lib/errors.ts'
import { findNetworksOfVaults } from '../../registry/networks/queries.ts'
import { lockExistingGroups } from './group-queries.ts'
import { listMembersAmong } from './memberships.ts'
import { approverReferences, type PolicyChange, type Reference, selectorReferences } from './policy-draft.ts'
import { listNamedAmong, lockExistingAddressGroups } from './reference-queries.ts'
import { addressKeyOf } from './selectors/address-keys.ts'
import type { SelectorType } from './selectors.ts'

/**
 * Objects that a policy names must exist when it is written: a block that names a misspelt token would never match.
 * Objects that are deleted later do not invalidate the policies that name them.
 */
export async function findMissingReferences(trx: Trx, vaultId: string, given: PolicyChange): Promise<FieldFault[]> {
  const named = (selectorType: SelectorType) => selectorReferences(given, selectorType)
  const groups = [...named('initiatorGroup'), ...approverReferences(given, 'groupId')]
  const users = [...named('initiator'), ...approverReferences(given, 'userId')]
  const addressGroups = named('addressGroup')
  const destinations = named('destination')
  const existingGroups = await lockExistingGroups(trx, vaultId, idsOf(groups))
  const existingAddressGroups = await lockExistingAddressGroups(trx, vaultId, idsOf(addressGroups))
  const members = await listMembersAmong(trx, vaultId, idsOf(users))
  const networks = await findNetworksOfVaults(trx, [vaultId])
  const payable = idsOf(destinations).filter((text) => networks.some(({ type }) => addressKeyOf(text, type) !== null))
  const existing = await listNamedAmong(trx, vaultId, {
    counterparty: idsOf(named('counterparty')),
    counterpartyGroup: idsOf(named('counterpartyGroup')),
    routeVariant: idsOf(named('routeVariant')),
    category: idsOf(named('category')),
    token: idsOf(named('token')),
    sourceAddress: idsOf(named('sourceAddress')),
  })
  return [
    ...missing(groups, existingGroups, 'is no policy group of the vault'),
    ...missing(addressGroups, existingAddressGroups, 'is no address group of the vault'),
    ...missing(users, members, 'is no member of the vault'),
    ...missing(named('network'), new Set(networks.map(({ slug }) => slug)), 'is no network of the vault'),
    ...missing(destinations, new Set(payable), 'is no address of a network of the vault'),
    ...missing(named('token'), existing.token, 'is no token of a network of the vault'),
    ...missing(named('sourceAddress'), existing.sourceAddress, 'is no address of the vault'),
    ...missing(named('counterparty'), existing.counterparty, 'is no counterparty of the vault'),
    ...missing(named('counterpartyGroup'), existing.counterpartyGroup, 'is no counterparty group of the vault'),
    ...missing(named('routeVariant'), existing.routeVariant, 'is no route and variant of the vault'),
    ...missing(named('category'), existing.category, 'is no operation category of the vault'),
  ]
}

function idsOf(references: Reference[]): string[] {
  return [...new Set(references.map(({ id }) => id))]
}

function missing(references: Reference[], existing: ReadonlySet<string>, message: string): FieldFault[] {
  return references.filter(({ id }) => !existing.has(id)).map(({ field }) => ({ field, message }))
}
