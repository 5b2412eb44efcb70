import type { Config } from '../../../config.ts'
import type { Deps } from '../../../deps.ts'
import type { FieldFault } from '../../../lib/errors.ts'
import { faultOfWebhookSecrets } from '../../../lib/secret-strength.ts'
import { splitList } from '../../../lib/secrets.ts'
import { faultOfWalletUrl } from '../../registry/wallet-service/base-url.ts'

type WalletSettings = { walletServiceUrl?: string | undefined; walletWebhookSecret?: string | null | undefined }

/** The faults of the URL and the webhook secret of a wallet service; `prefix` is the path of the two fields. */
export function faultsOfWallet(
  { walletServiceUrl, walletWebhookSecret }: WalletSettings,
  { acceptsWeakSecrets }: Pick<Config, 'acceptsWeakSecrets'>,
  prefix: string,
): FieldFault[] {
  const urlFault = walletServiceUrl === undefined ? null : faultOfWalletUrl(walletServiceUrl)
  const faults = urlFault === null ? [] : [{ field: `${prefix}walletServiceUrl`, message: urlFault }]
  if (walletWebhookSecret != null) {
    const secrets = splitList(walletWebhookSecret)
    // A list of only commas counts as one empty secret.
    const given = secrets.length === 0 ? [''] : secrets
    const message = faultOfWebhookSecrets(given, { mayBeGuessed: acceptsWeakSecrets })
    if (message !== null) faults.push({ field: `${prefix}walletWebhookSecret`, message })
  }
  return faults
}

/** A secret as it is stored; null stays null, and undefined (it does not change) undefined. */
export function sealed<None extends null | undefined>(
  sealer: Deps['sealer'],
  secret: string | None,
): ReturnType<Deps['sealer']['seal']> | None {
  return typeof secret === 'string' ? sealer.seal(secret) : secret
}
