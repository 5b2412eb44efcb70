import { type Hex, hexToBigInt, type TransactionReceipt } from 'viem'

/** A rollup of the OP stack takes a fee for the network below it besides the gas, and names it here in its receipts. */
type RollupReceipt = { l1Fee?: Hex | null }

/** All that the sender paid for a mined transaction besides what it moved. */
export function feeOf(receipt: Pick<TransactionReceipt, 'gasUsed' | 'effectiveGasPrice'>): bigint {
  const { l1Fee } = receipt as RollupReceipt
  return receipt.gasUsed * receipt.effectiveGasPrice + (l1Fee ? hexToBigInt(l1Fee) : 0n)
}
