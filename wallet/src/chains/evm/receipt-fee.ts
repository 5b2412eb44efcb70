import { type Hex, hexToBigInt, type TransactionReceipt } from 'viem'

/** `l1Fee` is the fee that a rollup of the OP stack takes for the network below it, in addition to the gas. */
type RollupReceipt = { l1Fee?: Hex | null }

/** Returns all fees that the sender paid for a mined transaction. The amount that it moved is not included. */
export function feeOf(receipt: Pick<TransactionReceipt, 'gasUsed' | 'effectiveGasPrice'>): bigint {
  const { l1Fee } = receipt as RollupReceipt
  return receipt.gasUsed * receipt.effectiveGasPrice + (l1Fee ? hexToBigInt(l1Fee) : 0n)
}
