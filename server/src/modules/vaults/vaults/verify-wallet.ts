import type { Trx } from '../../../db/client.ts'
import { markOf } from '../../../lib/secrets.ts'
import { replay } from '../../record/audit/queries.ts'
import type { SubjectDifference, SubjectReport } from '../../record/audit/verify-subjects.ts'

/** The mark of a secret as records hold it; null: there is no secret. */
export const markInRecord = (sealed: Buffer | null): string | null =>
  sealed === null ? null : markOf(sealed).toString('hex')

type Recorded = {
  walletServiceUrl?: unknown
  walletServiceSecretMark?: unknown
  walletWebhookSecretMark?: unknown
}

/** Compares where the wallet service of a vault is, and which secrets it has, with the record. */
export async function verifyWallet(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const differences: SubjectDifference[] = []
  const name = (detail: string) => differences.push({ vaultId, targetType: 'vault', targetId: vaultId, detail })
  const recorded: Recorded = {}
  let isCreated = false
  for await (const { action, details, fault, id } of replay(trx, vaultId, ['vault.created', 'vault.updated'])) {
    if (fault !== null) name(`its audit record ${id}: ${fault}`)
    const said = { ...(action === 'vault.created' ? details : (details.changes as object)), ...marksOf(details) }
    Object.assign(recorded, said)
    isCreated ||= action === 'vault.created'
  }
  const row = await trx
    .selectFrom('vaults')
    .select(['wallet_service_url', 'wallet_service_secret', 'wallet_webhook_secret'])
    .where('id', '=', vaultId)
    .executeTakeFirstOrThrow()
  if (!isCreated) {
    name('no audit record creates it')
    return { checked: 1, differences }
  }
  if (recorded.walletServiceUrl !== row.wallet_service_url) name('its wallet service is not the one that was recorded')
  for (const [mark, column, words] of [
    ['walletServiceSecretMark', 'wallet_service_secret', 'the secret of its wallet service'],
    ['walletWebhookSecretMark', 'wallet_webhook_secret', 'its webhook secret'],
  ] as const) {
    // Records before the marks were written do not tell which secret it was.
    if (recorded[mark] !== undefined && recorded[mark] !== markInRecord(row[column])) {
      name(`${words} is not the one that was recorded`)
    }
  }
  return { checked: 1, differences }
}

/** A change of a secret that names no mark is of an older version: from then on the mark is not known. */
function marksOf(details: Record<string, unknown>): Recorded {
  return {
    ...(details.isWalletServiceSecretChanged === true || 'walletServiceSecretMark' in details
      ? { walletServiceSecretMark: details.walletServiceSecretMark }
      : {}),
    ...(details.isWalletWebhookSecretChanged === true || 'walletWebhookSecretMark' in details
      ? { walletWebhookSecretMark: details.walletWebhookSecretMark }
      : {}),
  }
}
