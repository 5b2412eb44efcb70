import { HDKey } from '@scure/bip32'
import type { ParsedPath } from '../../keys/derivation-path.ts'
import type { Keyring } from '../../keys/keyring.ts'
import type { Key } from '../chain.ts'
import { addressOf } from './addresses.ts'
import type { UtxoParameters } from './parameters.ts'
import { toBip84Path } from './paths.ts'

/** `sign` gives 64 bytes, r and s. */
export type UtxoKey = Key & { publicKey: Uint8Array; sign(digest: Uint8Array): Uint8Array }

export async function openKey(
  parameters: UtxoParameters,
  keyring: Keyring,
  clientId: string,
  path: ParsedPath,
): Promise<UtxoKey> {
  const key = new HDKey({ privateKey: await keyring.privateKey(clientId, toBip84Path(path)) })
  const publicKey = key.publicKey!
  return { address: addressOf(publicKey, parameters), publicKey, sign: (digest) => key.sign(digest) }
}
