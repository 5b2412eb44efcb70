import { eachLimited } from '../each-limited.ts'
import { findTransaction } from './blocks.ts'
import { NodeOutage } from './rpc.ts'
import type { Outpoint, UtxoTransaction } from './utxo-block.ts'
import type { UtxoNode } from './utxo-node.ts'

/** An output that a transaction spends. `address` is null for a script without an address. */
export type Spent = Outpoint & { amount: bigint; address: string | null }

/** Looks up the outputs that a transaction spends, in its order. @throws NodeOutage for a node that does not know one of the outputs */
export async function readSpent(node: UtxoNode, { spends }: UtxoTransaction): Promise<Spent[]> {
  const found: Spent[] = []
  await eachLimited([...spends.entries()], async ([position, { txHash, index }]) => {
    const parent = await findTransaction(node, txHash)
    const output = parent?.outputs.find((candidate) => candidate.index === index)
    if (output === undefined) throw new NodeOutage(`the node does not know what ${txHash}:${index} is`)
    found[position] = { txHash, index, amount: output.amount, address: output.address }
  })
  return found
}

/** Inputs less outputs. The transaction that pays the miner spends nothing and has no fee. */
export function feeOfTransaction({ outputs }: UtxoTransaction, spent: Spent[]): bigint {
  if (spent.length === 0) return 0n
  return sumOf(spent) - sumOf(outputs)
}

const sumOf = (parts: { amount: bigint }[]) => parts.reduce((sum, { amount }) => sum + amount, 0n)

/** Returns the address of all spent outputs; null when they have several addresses, or a script without an address. */
export function senderOf(spent: Spent[]): string | null {
  const addresses = new Set(spent.map(({ address }) => address))
  return addresses.size === 1 ? [...addresses][0]! : null
}
