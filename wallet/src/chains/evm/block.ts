import type { Address, Hex, TransactionReceipt } from 'viem'
import type { Movement, SeenBlock } from '../chain.ts'

/** A block of the chain, with the data that recognises its transactions and tells their outcome. */
export type EvmBlock = SeenBlock & {
  /** null: the node does not give the receipts of a whole block. */
  movements: { txHash: Hex; movement: Movement }[] | null
  /** `receipt` null: as `movements`. */
  transactions: (SentTransaction & { receipt: TransactionReceipt | null })[]
}

/** A transaction as its block names it. */
export type SentTransaction = { hash: Hex; from: Address; nonce: number }

/** The part of a block that is kept until the block is deep. */
export type KnownBlock = Omit<EvmBlock, 'transactions'> & { sent: SentTransaction[] }
