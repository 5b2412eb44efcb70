import type { HDKey } from '@scure/bip32'
import { Transaction } from '@scure/btc-signer'
import { privateKeyToAccount } from 'viem/accounts'
import { readAddress, scriptOf } from '../chains/bitcoin/addresses.ts'
import { assembleTransaction, buildTransaction, type Plan, type Signed } from '../chains/bitcoin/build.ts'
import type { UtxoParameters } from '../chains/bitcoin/parameters.ts'
import type { Coin } from '../chains/bitcoin/sizes.ts'

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

/** Signs a transaction that spends an output of each key, in their order. */
export async function signForSeveral(
  keys: HDKey[],
  { coins, outputs }: { coins: Coin[]; outputs: { toAddress: string; amount: bigint }[] },
  parameters: UtxoParameters,
): Promise<{ raw: string; txHash: string }> {
  const transaction = new Transaction({ version: 2, lockTime: 0 })
  for (const [at, { txHash, index, amount }] of coins.entries()) {
    const script = scriptOf(keys[at]!.publicKey!)
    transaction.addInput({ txid: txHash, index, sequence: 0xfffffffe, witnessUtxo: { script, amount } })
  }
  for (const { toAddress, amount } of outputs)
    transaction.addOutput({ script: readAddress(toAddress, parameters)!.script, amount })
  for (const [at, key] of keys.entries()) transaction.signIdx(key.privateKey!, at)
  transaction.finalize()
  return { raw: transaction.hex, txHash: transaction.id }
}
