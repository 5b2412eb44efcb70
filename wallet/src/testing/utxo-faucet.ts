import { HDKey } from '@scure/bip32'
import { addressOf, readAddress, scriptOf } from '../chains/bitcoin/addresses.ts'
import type { UtxoParameters } from '../chains/bitcoin/parameters.ts'
import { amountOf } from '../chains/bitcoin/rpc.ts'
import type { Coin } from '../chains/bitcoin/sizes.ts'
import type { LitecoinNode } from './litecoin-node.ts'
import { signForSeveral, signTransaction } from './sign-transaction.ts'

/** Returns strangers on the chain of a node: one pays with the rewards of the first blocks, others mine and receive. */
export async function openUtxoFaucet({ rpc, mine }: LitecoinNode, parameters: UtxoParameters) {
  const faucet = HDKey.fromMasterSeed(Buffer.alloc(32, 7))
  await mine(110, scriptOf(faucet.publicKey!))
  let faucetBlock = 0
  let minedTo = 0

  /** Signs a payment of the faucet with a block reward of its own. */
  const payFrom = async (toAddress: string, amount: bigint) => (await payTwice([toAddress], amount))[0]!

  /** Returns the reward of a block that the faucet has not spent. */
  async function nextCoin(): Promise<Coin> {
    faucetBlock += 1
    const hash = await rpc.call('getblockhash', [faucetBlock])
    const block = (await rpc.call('getblock', [hash, 2])) as {
      tx: { txid: string; vout: { n: number; value: unknown }[] }[]
    }
    const { txid, vout } = block.tx[0]!
    return { txHash: txid, index: vout[0]!.n, amount: amountOf(vout[0]!.value)! }
  }

  /** Signs payments of the faucet that all spend the same block reward, so that the chain can have one of them. */
  async function payTwice(recipients: string[], amount: bigint) {
    const coin = await nextCoin()
    const { txHash, index } = coin
    return await Promise.all(
      recipients.map(async (toAddress) => {
        const plan = { coins: [coin], payment: { toAddress, amount }, change: coin.amount - amount - 10_000n }
        return { ...(await signTransaction(faucet, plan, parameters)), spent: { txHash, index } }
      }),
    )
  }

  return {
    stranger: scriptOf(HDKey.fromMasterSeed(Buffer.alloc(32, 8)).publicKey!),
    payFrom,
    payTwice,
    /** Sends a payment of the faucet, and returns its hash. */
    async pay(toAddress: string, amount: bigint): Promise<string> {
      return (await rpc.call('sendrawtransaction', [(await payFrom(toAddress, amount)).raw])) as string
    },
    /** Sends one transaction of the faucet with all these outputs, and returns its hash. The rest is its fee. */
    async payTogether(outputs: { toAddress: string; amount: bigint }[]): Promise<string> {
      const { raw } = await signForSeveral([faucet], { coins: [await nextCoin()], outputs }, parameters)
      // The fee is high, because nothing returns.
      return (await rpc.call('sendrawtransaction', [raw, 0])) as string
    },
    /** Mines blocks to a new script, so that they are never the same as blocks of a branch that the chain has left. */
    async mine(count = 1) {
      minedTo += 1
      await mine(count, scriptOf(HDKey.fromMasterSeed(Buffer.alloc(32, 9)).derive(`m/${minedTo}`).publicKey!))
    },
    recipient: (index: number) =>
      addressOf(HDKey.fromMasterSeed(Buffer.alloc(32, 10)).derive(`m/${index}`).publicKey!, parameters),
    /** The chain's balance of an address, by the outputs that the node knows. */
    async balanceOf(address: string): Promise<bigint> {
      const script = Buffer.from(readAddress(address, parameters)!.script).toString('hex')
      const { total_amount } = (await rpc.call('scantxoutset', ['start', [`raw(${script})`]])) as {
        total_amount: unknown
      }
      return amountOf(total_amount)!
    },
  }
}
