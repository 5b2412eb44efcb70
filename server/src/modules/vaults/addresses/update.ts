import type { Static } from 'typebox'
import { ownScopeOf } from '../../../access/address-scope.ts'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { notFound } from '../../../lib/errors.ts'
import { audit } from '../../record/audit/record.ts'
import { type AddressWithBalances, findAddress } from './queries.ts'
import type { AddressUpdate } from './schema.ts'

/**
 * Changes label and appearance of an own address, and never its on-chain address, path or ledger.
 * @throws 404 for an address of another owner, also for administrators
 */
export async function updateAddress(
  trx: Trx,
  id: string,
  body: Static<typeof AddressUpdate>,
  by: ByMember,
): Promise<AddressWithBalances> {
  const { member, now } = by
  const { label, description, tags, logoUri, color, emoji } = body
  const { numUpdatedRows } = await trx
    .updateTable('addresses')
    // Fields that are undefined are left out of the statement.
    .set({ label, description, tags, logo_uri: logoUri, color, emoji, updated_at: now })
    .where('vault_id', '=', member.vault.id)
    .where('id', '=', id)
    .where('owner_id', '=', member.userId)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw notFound('Address')
  await audit(trx, byMember(by), 'address.updated', { type: 'address', id }, { changes: { ...body } })
  return (await findAddress(trx, ownScopeOf(member), id))!
}
