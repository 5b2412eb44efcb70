import { governedAction } from '../../rules/change-sets/governed-actions.ts'
import { addAddress, removeAddress, updateAddressGroup } from './actions.ts'
import { AddressGroupMemberCreation, AddressGroupUpdate } from './schema.ts'

/** The governed actions on folders that a policy rule names. The manager alone decides about other folders. */
export const folderActions = {
  address_group_update: governedAction(
    { operationId: 'updateAddressGroup', target: 'folder', schema: AddressGroupUpdate },
    async (trx, { targetId, payload }, by) =>
      (await updateAddressGroup(trx, targetId, payload, { ...by, isVotedOn: true })).id,
  ),
  address_group_member_add: governedAction(
    { operationId: 'addAddressGroupMember', target: 'folder', schema: AddressGroupMemberCreation },
    async (trx, { targetId, payload: { addressId } }, by) =>
      (await addAddress(trx, targetId, addressId, { ...by, isVotedOn: true })).group_id,
  ),
  address_group_member_remove: governedAction(
    { operationId: 'removeAddressGroupMember', target: 'folder', schema: AddressGroupMemberCreation },
    async (trx, { targetId, payload: { addressId } }, by) => {
      await removeAddress(trx, targetId, addressId, { ...by, isVotedOn: true })
      return targetId
    },
  ),
}
