import type { Static } from 'typebox'
import { ownScopeOf, visibleScopeOf } from '../../../access/address-scope.ts'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { badRequest, conflict, forbidden, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { audit, changedFields } from '../../record/audit/record.ts'
import { isSelectedByPolicy } from '../../rules/policy-groups/uses.ts'
import { findAddress } from '../addresses/queries.ts'
import { grantAccess, revokeAccess } from '../grants/actions.ts'
import type { GrantRow } from '../grants/queries.ts'
import type { GrantCreation } from '../grants/schema.ts'
import {
  type AddressGroupMemberRow,
  type AddressGroupRow,
  findAddressGroupMember,
  getAddressGroup,
  lockOwnAddressGroup,
} from './queries.ts'
import type { AddressGroupCreation, AddressGroupUpdate } from './schema.ts'

/** `isVotedOn` is true if the vault agreed to the change. The caller then need not be the manager. */
type ByFolder = ByMember & { isVotedOn?: boolean }

const folder = (id: string) => ({ type: 'address_group', id })

/** Creates an empty folder, which its creator manages. */
export async function createAddressGroup(
  trx: Trx,
  body: Static<typeof AddressGroupCreation>,
  by: ByMember,
): Promise<AddressGroupRow> {
  const { member, now } = by
  const id = newId(now)
  await trx
    .insertInto('address_groups')
    .values({
      vault_id: member.vault.id,
      id,
      name: body.name,
      description: body.description ?? null,
      color: body.color ?? null,
      emoji: body.emoji ?? null,
      created_by_id: member.userId,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await audit(trx, byMember(by), 'address_group.created', folder(id), { name: body.name })
  return getAddressGroup(trx, visibleScopeOf(member), id)
}

/** @throws 404 for a folder that the member may not see, 403 for one they do not manage */
export async function updateAddressGroup(
  trx: Trx,
  id: string,
  body: Static<typeof AddressGroupUpdate>,
  by: ByFolder,
): Promise<AddressGroupRow> {
  const { member, now } = by
  await lockManaged(trx, by, id, 'update')
  const row = await getAddressGroup(trx, visibleScopeOf(member), id)
  const { name, description, color, emoji } = row
  const changes = changedFields({ name, description, color, emoji }, body)
  if (changes === null) return row
  await trx
    .updateTable('address_groups')
    .set({ name, description, color, emoji, ...body, updated_at: now })
    .where('vault_id', '=', member.vault.id)
    .where('id', '=', id)
    .execute()
  await audit(trx, byMember(by), 'address_group.updated', folder(id), { changes })
  return { ...row, ...body, updated_at: now }
}

/**
 * Deletes a folder with its grants. Its addresses stay.
 * @throws 404, 403 as above, 409 when a policy names it, because a policy that blocks must not silently lose its effect
 */
export async function deleteAddressGroup(trx: Trx, id: string, by: ByMember): Promise<void> {
  const { member } = by
  await lockManaged(trx, by, id, 'update')
  if (await isSelectedByPolicy(trx, member.vault.id, 'addressGroup', id)) {
    throw conflict('in_use', 'A rule of a policy names the folder; an administrator must change it first')
  }
  const { name } = await getAddressGroup(trx, visibleScopeOf(member), id)
  await trx.deleteFrom('address_groups').where('vault_id', '=', member.vault.id).where('id', '=', id).execute()
  await audit(trx, byMember(by), 'address_group.deleted', folder(id), { name })
}

/**
 * Adds an address of its manager to a folder; everyone with a grant on the folder sees it from then on.
 * @throws 404, 403 as above, 400 for an address of another owner, 409 when it is in the folder already
 */
export async function addAddress(
  trx: Trx,
  id: string,
  addressId: string,
  by: ByFolder,
): Promise<AddressGroupMemberRow> {
  const { member, now } = by
  const managerId = await lockManaged(trx, by, id, 'share')
  if ((await findAddress(trx, visibleScopeOf(member), addressId))?.owner_id !== managerId) {
    throw badRequest(
      'addressId',
      managerId === member.userId ? 'is not an address of yours' : 'is not an address of its manager',
    )
  }
  await trx
    .insertInto('address_group_members')
    .values({ vault_id: member.vault.id, group_id: id, address_id: addressId, created_at: now })
    .execute()
    .catch(
      onViolation('address_group_members_once', () =>
        conflict('already_exists', 'The address is already in the folder'),
      ),
    )
  await audit(trx, byMember(by), 'address_group.member_added', folder(id), { addressId })
  return (await findAddressGroupMember(trx, visibleScopeOf(member), { groupId: id, addressId }))!
}

/** @throws 404 also for an address that is not in the folder, 403 as above */
export async function removeAddress(trx: Trx, id: string, addressId: string, by: ByFolder): Promise<void> {
  await lockManaged(trx, by, id, 'share')
  const { numDeletedRows } = await trx
    .deleteFrom('address_group_members')
    .where('vault_id', '=', by.member.vault.id)
    .where('group_id', '=', id)
    .where('address_id', '=', addressId)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('Member')
  await audit(trx, byMember(by), 'address_group.member_removed', folder(id), { addressId })
}

/** @throws 404, 403 as above, 400 as for a grant on an address */
export async function shareAddressGroup(
  trx: Trx,
  id: string,
  body: Static<typeof GrantCreation>,
  by: ByMember,
): Promise<{ row: GrantRow; isNew: boolean }> {
  await lockManaged(trx, by, id, 'share')
  return grantAccess(trx, { type: 'address_group', id }, body, by)
}

/** @throws 404 also for a grant that does not exist on the folder, 403 as above */
export async function unshareAddressGroup(trx: Trx, id: string, grantId: string, by: ByMember): Promise<void> {
  await lockManaged(trx, by, id, 'share')
  await revokeAccess(trx, { type: 'address_group', id }, grantId, by)
}

/** Locks a folder that may be changed, and returns its manager. @throws 404, 403 as above */
async function lockManaged(
  trx: Trx,
  { member, isVotedOn = false }: Pick<ByFolder, 'member' | 'isVotedOn'>,
  id: string,
  strength: 'update' | 'share',
): Promise<string> {
  if (await lockOwnAddressGroup(trx, ownScopeOf(member), id, strength)) return member.userId
  const { created_by_id: managerId } = await getAddressGroup(trx, visibleScopeOf(member), id)
  if (isVotedOn) return managerId
  throw forbidden('not_permitted', 'Only the manager of a folder may change it')
}
