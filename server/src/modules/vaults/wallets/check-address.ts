import type { Deps } from '../../../deps.ts'
import { type AccountKey, accountPathOf, addressBelow, faultOfAccountKey } from '../../../lib/account-key.ts'
import { badGateway } from '../../../lib/errors.ts'
import type { NetworkType, OnchainAddress } from '../../../lib/onchain-address.ts'
import type { AddressCheck } from '../../registry/networks/queries.ts'
import { throwBadGateway } from '../../registry/wallet-service/call.ts'
import type { WalletClient } from '../../registry/wallet-service/client.ts'
import { askAccountKey, findAccountKey, keyMissing } from './account-keys.ts'
import type { PresentWallet } from './wallet-settings.ts'

/** The key from which an address must follow. `isNew` is true if the wallet service has shown it just now. */
export type UsedKey = { key: AccountKey; isNew: boolean }

type Place = { network: string; type: NetworkType; addressCheck: AddressCheck; derivationPath: string }

/**
 * Returns the key of the account of a new address. It is pinned, or the wallet service shows it now and signs it with
 * the pinned key of the vault.
 * @returns null when the vault does not check the addresses of the network
 * @throws 502 when there is no key that the wallet service of the vault signed
 */
export async function findUsedKey(
  { db }: Pick<Deps, 'db'>,
  present: PresentWallet,
  wallet: WalletClient,
  { network, type, addressCheck, derivationPath }: Place,
  deadline: AbortSignal,
): Promise<UsedKey | null> {
  const { id, wallet_key: walletKey } = present
  if (walletKey === null || addressCheck === 'none') return null
  const account = accountPathOf(derivationPath)
  if (account === null) throw keyMissing(derivationPath)
  const pinned = await findAccountKey(db, id, account)
  if (pinned !== null) {
    // The signature is checked at every use, because a row that was written directly into the database has no valid signature.
    if (faultOfAccountKey(pinned, walletKey) !== null) throw keyMissing(account)
    return { key: pinned, isNew: false }
  }
  const shown = await askAccountKey(wallet, { network, type, derivationPath: account }, deadline).catch(throwBadGateway)
  if (shown?.walletKey !== walletKey) throw keyMissing(account)
  return { key: shown.key, isNew: true }
}

/** @throws 502 for an address that does not follow from the key */
export function assertFollows(
  { log }: Pick<Deps, 'log'>,
  { key }: UsedKey,
  vaultId: string,
  { address, key: addressKey }: OnchainAddress,
  derivationPath: string,
): void {
  if (addressBelow(key, derivationPath) === addressKey) return
  log.error(
    { vaultId, derivationPath, address },
    'the wallet service answered an address that does not follow from its key',
  )
  throw badGateway(`The wallet service returned an address that does not follow from its key of ${key.derivationPath}`)
}
