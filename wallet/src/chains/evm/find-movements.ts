import { type Address, erc20Abi, getAddress, type Log, parseEventLogs, type TransactionReceipt } from 'viem'
import type { Movement } from '../chain.ts'

type MinedTransaction = { from: Address; to: Address | null; value: bigint }

/**
 * Lists all movements of value in one transaction; none when it reverted. Pure. The index of a movement is its position among the Transfer
 * logs of the transaction, or 0 for the coin. A reorganisation may change the index within the block, but not this index.
 */
export function findMovements(
  transaction: MinedTransaction,
  receipt: Pick<TransactionReceipt, 'status' | 'logs'>,
): Movement[] {
  if (receipt.status !== 'success') return []
  const movements: Movement[] = []
  if (transaction.to !== null && transaction.value > 0n) {
    movements.push({
      contract: null,
      index: 0,
      fromAddress: getAddress(transaction.from),
      toAddress: getAddress(transaction.to),
      amount: transaction.value,
    })
  }
  transferLogs(receipt.logs).forEach((log, index) => {
    const { from, to, value } = log.args
    if (value > 0n) {
      movements.push({ contract: getAddress(log.address), index, fromAddress: from, toAddress: to, amount: value })
    }
  })
  return movements
}

/** Strict reading leaves out logs of other shapes, such as ERC-721's Transfer, which indexes its third field. */
export function transferLogs(logs: Log[]) {
  return parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs, strict: true })
}
