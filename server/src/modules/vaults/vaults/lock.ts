import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { conflict } from '../../../lib/errors.ts'
import { audit } from '../../record/audit/record.ts'
import { findVault, type VaultWithStructure } from './queries.ts'

/**
 * Makes the structure final; addresses may be created from now on.
 * @throws 409 when it is final already
 */
export async function lockVault(trx: Trx, by: ByMember): Promise<VaultWithStructure> {
  const { id } = by.member.vault
  const { numUpdatedRows } = await trx
    .updateTable('vaults')
    .set({ locked_at: by.now, updated_at: by.now })
    .where('id', '=', id)
    .where('locked_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw conflict('The vault is locked already')
  await audit(trx, byMember(by), 'vault.locked', { type: 'vault', id })
  return (await findVault(trx, id))!
}
