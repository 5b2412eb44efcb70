import {
  type Block,
  getAddress,
  HttpRequestError,
  MethodNotFoundRpcError,
  MethodNotSupportedRpcError,
  TransactionNotFoundError,
  type TransactionReceipt,
} from 'viem'
import { rememberedBlocksMax } from '../../limits.ts'
import { isOneChain } from '../chain.ts'
import { eachLimited } from '../each-limited.ts'
import type { EvmBlock, KnownBlock } from './block.ts'
import { findMovements } from './find-movements.ts'
import type { Node } from './node.ts'
import { isOutage } from './node-faults.ts'

type FullBlock = Block<bigint, true, 'latest'>

/** Reads blocks in two calls each. @throws when the node reorganises its chain in between */
export async function readSeenBlocks(chain: Node, first: bigint, last: bigint): Promise<EvmBlock[]> {
  const numbers = Array.from({ length: Number(last - first) + 1 }, (_, offset) => first + BigInt(offset))
  const blocks = new Map<bigint, EvmBlock>()
  await eachLimited(numbers, async (number) => {
    blocks.set(number, await readSeenBlock(chain, number))
  })
  return numbers.map((number) => blocks.get(number)!)
}

async function readSeenBlock(chain: Node, blockNumber: bigint): Promise<EvmBlock> {
  const [block, receipts] = await Promise.all([
    chain.client.getBlock({ blockNumber, includeTransactions: true }) as Promise<FullBlock>,
    readReceipts(chain, blockNumber),
  ])
  const { number, hash, parentHash, timestamp } = block
  const receiptOf = receipts && new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]))
  const movements: EvmBlock['movements'] = receipts && []
  const transactions = block.transactions.map((transaction) => {
    const receipt = receiptOf === null ? null : receiptOf.get(transaction.hash)
    if (receipt === undefined || (receipt !== null && receipt.blockHash !== hash))
      throw new Error(`block ${number} was reorganised while it was read`)
    if (receipt !== null)
      for (const movement of findMovements(transaction, receipt))
        movements!.push({ txHash: transaction.hash, movement })
    return { hash: transaction.hash, from: getAddress(transaction.from), nonce: transaction.nonce, receipt }
  })
  return { number, hash, parentHash, timestamp, movements, transactions }
}

export function rememberBlocks(chain: Node, blocks: EvmBlock[]): void {
  for (const block of blocks) chain.known.set(block.number, toKnown(block))
  for (const number of chain.known.keys()) {
    if (chain.known.size <= rememberedBlocksMax) return
    chain.known.delete(number)
  }
}

const toKnown = ({ transactions, ...block }: EvmBlock): KnownBlock => ({
  ...block,
  sent: transactions.map(({ hash, from, nonce }) => ({ hash, from, nonce })),
})

/** Returns null when the node does not return the receipts of blocks, or of this block. */
async function readReceipts(chain: Node, blockNumber: bigint): Promise<TransactionReceipt[] | null> {
  if (!chain.scan.hasBlockReceipts) return null
  try {
    return await chain.client.getBlockReceipts({ blockNumber })
  } catch (error) {
    if (isUnsupported(error)) chain.scan.hasBlockReceipts = false
    else if (isOutage(error)) throw error
    return null
  }
}

/** Nodes refuse a method that they lack with one of two codes, or with a status of HTTP. */
function isUnsupported(error: unknown): boolean {
  if (!(error instanceof Error) || !('walk' in error)) return false
  const refusal = (error as HttpRequestError).walk(
    (cause) =>
      cause instanceof MethodNotFoundRpcError ||
      cause instanceof MethodNotSupportedRpcError ||
      (cause instanceof HttpRequestError && [400, 404, 405, 501].includes(cause.status ?? 0)),
  )
  return refusal !== null
}

type Range = { first: bigint; last: bigint; headBlock: bigint }

/**
 * Returns the blocks of a range if all blocks up to `headBlock` are known with their movements; null otherwise. After a start the
 * few blocks that are not deep enough yet are read once, so that a later block costs no more than its own calls. They are kept apart
 * from the blocks that were followed, which show how far a chain was reorganised.
 */
export async function recallBlocks(chain: Node, { first, last, headBlock }: Range): Promise<KnownBlock[] | null> {
  const { known, beforeStart, scan, confirmations } = chain
  for (const number of beforeStart.keys()) if (number < first || known.has(number)) beforeStart.delete(number)
  const find = (number: bigint) => known.get(number) ?? beforeStart.get(number)
  const numbers = Array.from({ length: Number(headBlock - first) + 1 }, (_, offset) => first + BigInt(offset))
  const missing = numbers.filter((number) => !find(number)?.movements)
  if (missing.length > (scan.hasBlockReceipts ? confirmations : 0)) return null
  await eachLimited(missing, async (number) => {
    beforeStart.set(number, toKnown(await readSeenBlock(chain, number)))
  })
  const blocks = numbers.flatMap((number) => find(number) ?? [])
  if (blocks.every(({ movements }) => movements !== null) && isOneChain(blocks, null))
    return blocks.slice(0, Number(last - first) + 1)
  beforeStart.clear()
  return null
}

/** Returns null for an object that the node does not know; throws errors of the node. */
export async function unlessUnknown<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof TransactionNotFoundError) return null
    throw error
  }
}
