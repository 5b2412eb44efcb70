import type { BroadcastOutcome, Signed } from '../chain.ts'
import { describeNodeError } from '../node-error.ts'
import { findBlock, findTransaction } from './blocks.ts'
import type { UtxoNode } from './utxo-node.ts'

/**
 * Sends signed bytes to the node, and then the children of the transaction. A refused payment does not hold up other payments: they
 * spend other outputs, or are refused themselves.
 */
export async function broadcast(node: UtxoNode, { raw, hash }: Signed): Promise<BroadcastOutcome> {
  try {
    if (!(await isKnown(node, hash))) await send(node, raw)
    for (const child of await listChildren(node, hash))
      if (!(await isKnown(node, child.hash))) await send(node, child.raw)
    return { accepted: true }
  } catch (error) {
    return { accepted: false, reason: describeNodeError(error), isPassed: true }
  }
}

/** Sends without the fee limit of the node, which would refuse fees that people signed: `check.ts` has compared the fee with our limits. */
const send = ({ rpc }: UtxoNode, raw: string) => rpc.call('sendrawtransaction', [raw, 0])

/** Returns true if the node has the transaction in a block or in its pool; false also when it does not answer. */
export async function isKnown(node: UtxoNode, hash: string): Promise<boolean> {
  return await findTransaction(node, hash)
    .then(
      // The index of the node may still name a block that the chain has left.
      async (found) =>
        found !== null && (found.blockHash === null || (await findBlock(node, found.blockHash)) !== null),
    )
    .catch(() => false)
}

async function listChildren({ pool }: UtxoNode, hash: string): Promise<Signed[]> {
  const { rows } = await pool.query<Signed>(
    `select k.raw_transaction as raw, k.tx_hash as hash from wallet.transactions v
     join wallet.transactions k on k.client_id = v.client_id and k.id = v.id and k.kind = 'child'
     where v.tx_hash = $1 order by k.number`,
    [hash],
  )
  return rows
}
