import type { HDKey } from '@scure/bip32'
import { privateKeyToAccount } from 'viem/accounts'
import { assembleTransaction, buildTransaction, type Plan, type Signed } from '../chains/bitcoin/build.ts'
import type { UtxoParameters } from '../chains/bitcoin/parameters.ts'

/** Builds a transaction and signs its digests with a key, as the key store does. */
export async function signTransaction(
  key: HDKey,
  plan: Omit<Plan, 'publicKey'>,
  parameters: UtxoParameters,
): Promise<Signed> {
  const account = privateKeyToAccount(`0x${Buffer.from(key.privateKey!).toString('hex')}`)
  const unsigned = buildTransaction({ ...plan, publicKey: key.publicKey! }, parameters)
  const signatures = await Promise.all(
    unsigned.digests.map(async (digest) => {
      const signature = await account.sign({ hash: `0x${Buffer.from(digest).toString('hex')}` })
      return Buffer.from(signature.slice(2, 130), 'hex')
    }),
  )
  return assembleTransaction(unsigned, signatures)
}
