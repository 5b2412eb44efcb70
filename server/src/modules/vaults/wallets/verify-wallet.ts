import type { Trx } from '../../../db/client.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'
import { differencesOfWallet, readRecordedWallet } from './wallet-settings.ts'

/** Compares the URL and the secrets of the wallet service of a vault with the record. */
export async function verifyWallet(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const stored = await trx
    .selectFrom('vaults')
    .select(['id', 'wallet_service_url', 'wallet_service_secret', 'wallet_webhook_secret'])
    .where('id', '=', vaultId)
    .executeTakeFirstOrThrow()
  const details = differencesOfWallet(stored, await readRecordedWallet(trx, vaultId))
  const differences = details.map((detail) => ({ vaultId, targetType: 'vault', targetId: vaultId, detail }))
  return { checked: 1, differences }
}
