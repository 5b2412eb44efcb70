import type { Hex } from 'viem'
import type { BroadcastOutcome, Signed } from '../chain.ts'
import { describeNodeError } from '../node-error.ts'
import type { Node } from './node.ts'

/**
 * Sends signed bytes to the node. Transactions that are sent at the same moment travel in one request. Sending the same bytes twice is
 * harmless, so in doubt they are sent again.
 */
export async function broadcastTransaction(chain: Node, transaction: Signed): Promise<BroadcastOutcome> {
  try {
    await chain.batched.sendRawTransaction({ serializedTransaction: transaction.raw as Hex })
    return { accepted: true }
  } catch (error) {
    const reason = describeNodeError(error)
    if (/already known|already imported|known transaction|already exists/i.test(reason)) return { accepted: true }
    // "nonce too low" is also the answer of a node that has mined the transaction already.
    if (await isKnown(chain, transaction.hash)) return { accepted: true }
    return { accepted: false, reason, isPassed: /nonce.{0,20}low/i.test(reason) }
  }
}

/** Returns true if the node has the transaction in a block or in its pool; false also when it does not answer. */
export async function isKnown(chain: Node, hash: string): Promise<boolean> {
  return await chain.batched.getTransaction({ hash: hash as Hex }).then(
    () => true,
    () => false,
  )
}
