import { spentOutputsMax } from '../../limits.ts'
import type { TransactionState } from '../../protocol.ts'
import { findBlock, findTransaction } from './blocks.ts'
import { feeOfTransaction, readSpent, senderOf } from './spent.ts'
import { readHeight, type UtxoNode } from './utxo-node.ts'

/** Reads the present state of a transaction; null when the node does not know it. */
export async function readTransaction(node: UtxoNode, hash: string): Promise<TransactionState | null> {
  const headBlock = await readHeight(node)
  const found = await findTransaction(node, hash)
  if (found === null) return null
  const block = found.blockHash === null ? null : await findBlock(node, found.blockHash)
  const spent = await readSpent(node, found)
  const isListed = spent.length > 0 && spent.length <= spentOutputsMax
  const known = {
    hash,
    from: null,
    nonce: null,
    ...(isListed ? { spent: spent.map((coin) => ({ ...coin, amount: coin.amount.toString() })) } : {}),
  }
  if (block === null) return { ...known, status: 'pending', confirmations: 0, blockTime: null, fee: null, payments: [] }
  const confirmations = Number(block.number > headBlock ? 1n : headBlock - block.number + 1n)
  const fromAddress = senderOf(spent)
  return {
    ...known,
    status: confirmations >= node.confirmations ? 'mined' : 'pending',
    confirmations,
    blockTime: new Date(Number(block.timestamp) * 1000).toISOString(),
    fee: feeOfTransaction(found, spent).toString(),
    // Change is not a payment.
    payments: found.outputs.flatMap(({ index, amount, address }) =>
      address === null || amount === 0n || address === fromAddress
        ? []
        : [{ index, fromAddress, toAddress: address, contractAddress: null, amount: amount.toString() }],
    ),
  }
}
