import type { Static } from 'typebox'
import type { ByMember } from '../../../access/caller.ts'
import { byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { announceVaultChange, quote } from '../../record/notifications/announce.ts'
import { findVault, lockVaultRow, type VaultWithStructure } from './queries.ts'
import type { ProtectionUpdate } from './schema.ts'

/** Switches on or off that what leaves the vault must be signed, on its record and announced. */
export async function updateProtection(
  trx: Trx,
  { protection }: Static<typeof ProtectionUpdate>,
  by: ByMember,
): Promise<VaultWithStructure> {
  const { id } = by.member.vault
  const { name, protection: before } = await lockVaultRow(trx, id)
  if (before !== protection) {
    await trx.updateTable('vaults').set({ protection, updated_at: by.now }).where('id', '=', id).execute()
    await announceVaultChange(trx, {
      ...byMember(by),
      action: 'vault.protection_updated',
      targetType: 'vault',
      targetId: id,
      details: { before, after: protection },
      words: {
        sentence: `The protection of the vault ${quote(name)} was changed`,
        before: { protection: before },
        after: { protection },
      },
    })
  }
  return (await findVault(trx, id))!
}
