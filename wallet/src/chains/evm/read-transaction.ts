import { type Address, getAddress, type Hex, TransactionNotFoundError, TransactionReceiptNotFoundError } from 'viem'
import type { TransactionState } from '../../protocol.ts'
import { findMovements } from './find-movements.ts'
import { type Node, readHead } from './node.ts'
import { feeOf } from './receipt-fee.ts'

/**
 * Reads the present state of a transaction; null when the node does not know it. The state is `mined` or `failed` only at
 * the depth at which a transfer is final, and `pending` before.
 */
export async function readTransaction(chain: Node, hash: Hex): Promise<TransactionState | null> {
  const headBlock = await readHead(chain)
  const transaction = await unlessMissing(chain.client.getTransaction({ hash }))
  if (transaction === null) return null
  const receipt = await unlessMissing(chain.client.getTransactionReceipt({ hash }))
  const known = {
    hash: transaction.hash,
    from: getAddress(transaction.from),
    nonce: transaction.nonce,
  }
  if (receipt === null) {
    return { ...known, status: 'pending', confirmations: 0, blockTime: null, fee: null, payments: [] }
  }
  const confirmations = Number(receipt.blockNumber > headBlock ? 1n : headBlock - receipt.blockNumber + 1n)
  const isFinal = confirmations >= chain.confirmations
  const { timestamp } = await chain.client.getBlock({ blockNumber: receipt.blockNumber })
  return {
    ...known,
    status: isFinal ? (receipt.status === 'success' ? 'mined' : 'failed') : 'pending',
    confirmations,
    blockTime: new Date(Number(timestamp) * 1000).toISOString(),
    fee: feeOf(receipt).toString(),
    payments: findMovements(transaction, receipt)
      .filter(({ amount }) => amount > 0n)
      .map(({ index, fromAddress, toAddress, contract, amount }) => ({
        index,
        fromAddress,
        toAddress,
        contractAddress: contract,
        amount: amount.toString(),
      })),
  }
}

/**
 * Finds the final transaction that used a nonce of an address; null while no such transaction is final.
 * @throws when the node has dropped the state of past blocks
 */
export async function findNonceUse(chain: Node, address: Address, nonce: number): Promise<Hex | null> {
  const headBlock = await readHead(chain)
  const finalBlock = headBlock - BigInt(chain.confirmations) + 1n
  const isUsedAt = async (blockNumber: bigint) =>
    (await chain.client.getTransactionCount({ address, blockNumber })) > nonce
  if (finalBlock < 0n || !(await isUsedAt(finalBlock))) return null
  // The nonce is used at `used`, and not at `unused`. The steps back double until they reach an unused block; then the interval is halved.
  let used = finalBlock
  let unused = -1n
  for (let step = 1n; used - step >= 0n; step *= 2n) {
    const earlier = used - step
    if (!(await isUsedAt(earlier))) {
      unused = earlier
      break
    }
    used = earlier
  }
  while (used - unused > 1n) {
    const middle = (used + unused) / 2n
    if (await isUsedAt(middle)) used = middle
    else unused = middle
  }
  const { transactions } = await chain.client.getBlock({ blockNumber: used, includeTransactions: true })
  const found = transactions.find(
    (transaction) => getAddress(transaction.from) === address && transaction.nonce === nonce,
  )
  return found?.hash ?? null
}

async function unlessMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof TransactionNotFoundError || error instanceof TransactionReceiptNotFoundError) return null
    throw error
  }
}
