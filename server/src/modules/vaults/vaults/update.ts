import type { Static } from 'typebox'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { badRequest, faulty } from '../../../lib/errors.ts'
import { audit } from '../../record/audit/record.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { type ChangeInWords, quote } from '../../record/notifications/describe-change.ts'
import { findVault, lockVaultRow, type VaultRow, type VaultWithStructure } from './queries.ts'
import type { VaultUpdate } from './schema.ts'
import { faultsOfWallet, sealed } from './wallet-settings.ts'

/**
 * Changes everything but the structure. A stored bearer secret is never sent to another origin than the one it was set for.
 * @throws 400 for invalid settings of the wallet service, or a new origin without a new secret
 */
export async function updateVault(
  trx: Trx,
  { config, sealer }: Pick<Deps, 'config' | 'sealer'>,
  body: Static<typeof VaultUpdate>,
  by: ByMember,
): Promise<VaultWithStructure> {
  const { id } = by.member.vault
  const faults = faultsOfWallet(body, config, '')
  if (faults.length > 0) throw faulty(faults)
  const vault = await lockVaultRow(trx, id)
  const { walletServiceSecret, walletWebhookSecret, ...shown } = body
  if (
    body.walletServiceUrl !== undefined &&
    walletServiceSecret === undefined &&
    vault.wallet_service_secret !== null &&
    new URL(body.walletServiceUrl).origin !== new URL(vault.wallet_service_url).origin
  ) {
    throw badRequest('walletServiceSecret', 'is required (or null) when walletServiceUrl moves to another origin')
  }
  await trx
    .updateTable('vaults')
    // Fields that are undefined are left out of the statement.
    .set({
      name: body.name,
      description: body.description,
      wallet_service_url: body.walletServiceUrl,
      wallet_service_secret: sealed(sealer, walletServiceSecret),
      wallet_webhook_secret: sealed(sealer, walletWebhookSecret),
      updated_at: by.now,
    })
    .where('id', '=', id)
    .execute()
  const details = {
    changes: shown,
    isWalletServiceSecretChanged: walletServiceSecret !== undefined,
    isWalletWebhookSecretChanged: walletWebhookSecret !== undefined,
  }
  const walletService = walletServiceChange(vault, body)
  if (walletService === null) await audit(trx, byMember(by), 'vault.updated', { type: 'vault', id }, details)
  else {
    await announceVaultChange(trx, {
      ...byMember(by),
      action: 'vault.updated',
      targetType: 'vault',
      targetId: id,
      details,
      words: { sentence: `The wallet service of the vault ${quote(vault.name)} was changed`, ...walletService },
    })
  }
  return (await findVault(trx, id))!
}

/**
 * The announced change of the wallet service; null if it is unchanged. Of its URL only the origin is shown, because paths
 * and queries may contain secrets.
 */
function walletServiceChange(
  vault: VaultRow,
  { walletServiceUrl = vault.wallet_service_url, walletServiceSecret, walletWebhookSecret }: Static<typeof VaultUpdate>,
): Pick<ChangeInWords, 'before' | 'after'> | null {
  const isUrlKept = walletServiceUrl === vault.wallet_service_url
  if (isUrlKept && walletServiceSecret === undefined && walletWebhookSecret === undefined) return null
  const [from, to] = [new URL(vault.wallet_service_url), new URL(walletServiceUrl)]
  return {
    before: { 'origin of walletServiceUrl': from.origin },
    after: {
      'origin of walletServiceUrl': to.origin,
      'path of walletServiceUrl': from.href === to.href || from.origin !== to.origin ? null : 'changed',
      walletServiceSecret: changeOfSecret(walletServiceSecret),
      walletWebhookSecret: changeOfSecret(walletWebhookSecret),
    },
  }
}

function changeOfSecret(secret: string | null | undefined): 'removed' | 'replaced' | null {
  if (secret === undefined) return null
  return secret === null ? 'removed' : 'replaced'
}
