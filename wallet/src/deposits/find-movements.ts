import { type Address, erc20Abi, getAddress, type Hex, type Log, parseEventLogs, type TransactionReceipt } from 'viem'

/** A transfer of coin or token that a mined transaction made. `contract` null is the coin of the network. */
export type Movement = {
  contract: Address | null
  /** Position among the Transfer logs of the transaction, 0 for the coin: it survives a reorganisation, a block-wide index does not. */
  index: number
  fromAddress: Address
  toAddress: Address
  amount: bigint
}

type MinedTransaction = { from: Address; to: Address | null; value: bigint }

/** All movements of value in one transaction; none when it reverted. Pure. */
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

/** The key under which a movement is the same one, whatever block it is in. */
export function eventKey({ network, txHash, movement }: { network: string; txHash: Hex; movement: Movement }): string {
  return [network, txHash, movement.toAddress, movement.contract ?? 'native', movement.index].join('|')
}
