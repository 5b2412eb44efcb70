import type { SeenBlock } from '../chain.ts'

export type Outpoint = { txHash: string; index: number }
/** `address` null: a script that no address stands for. */
export type Output = { index: number; amount: bigint; address: string | null }
/** `spends` is empty for the transaction that pays the miner. */
export type UtxoTransaction = { hash: string; spends: Outpoint[]; outputs: Output[] }
export type UtxoBlock = SeenBlock & { transactions: UtxoTransaction[] }
/** `blockHash` null: it waits in the pool of the node. */
export type FoundTransaction = UtxoTransaction & { blockHash: string | null }
