import type { SeenBlock } from '../chain.ts'

export type Outpoint = { txHash: string; index: number }
/** `address` is null for a script without an address. */
export type Output = { index: number; amount: bigint; address: string | null }
/** `spends` is empty for the transaction that pays the miner. */
export type UtxoTransaction = { hash: string; spends: Outpoint[]; outputs: Output[] }
export type UtxoBlock = SeenBlock & { transactions: UtxoTransaction[] }
/** `blockHash` is null while the transaction waits in the pool of the node. */
export type FoundTransaction = UtxoTransaction & { blockHash: string | null }
