import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type ParsedPath, toBip32Path } from '../../keys/derivation-path.ts'
import type { Keyring } from '../../keys/keyring.ts'

/** The accounts of the keys that the key store keeps opened. */
const known = new WeakMap<Uint8Array, PrivateKeyAccount>()

/** Opens the account of a client's path. */
export async function openAccount(keyring: Keyring, clientId: string, path: ParsedPath): Promise<PrivateKeyAccount> {
  const privateKey = await keyring.privateKey(clientId, toBip32Path(path))
  const account = known.get(privateKey) ?? accountOf(privateKey)
  known.set(privateKey, account)
  return account
}

export const accountOf = (privateKey: Uint8Array): PrivateKeyAccount =>
  privateKeyToAccount(`0x${Buffer.from(privateKey).toString('hex')}`)
