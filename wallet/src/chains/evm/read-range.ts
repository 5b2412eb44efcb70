import {
  type Address,
  type Block,
  erc20Abi,
  getAbiItem,
  getAddress,
  type Hex,
  type Transaction,
  TransactionReceiptNotFoundError,
} from 'viem'
import { scanBlocksMax } from '../../limits.ts'
import type { BlockMovement, BlockRange, Movement } from '../chain.ts'
import { eachLimited } from '../each-limited.ts'
import type { KnownBlock, SentTransaction } from './block.ts'
import { findMovements, transferLogs } from './find-movements.ts'
import { findUnknownTransactions } from './find-unknown-transactions.ts'
import type { Node } from './node.ts'
import { recallBlocks } from './seen-block.ts'

type FullBlock = Block<bigint, true, 'latest'>
type ListOwn = Parameters<BlockRange['listMovements']>[0]

/** Reads a range of blocks, from memory if they are known with all receipts. Otherwise reads only the receipts of deposits. */
export async function readRange(
  chain: Node,
  { first, last, headBlock }: { first: bigint; last: bigint; headBlock: bigint },
): Promise<BlockRange> {
  const recalled = await recallBlocks(chain, { first, last, headBlock })
  const read = recalled === null ? await readBlocks(chain, first, last) : []
  const blocks = recalled ?? read
  return {
    blocks,
    listMovements: (listOwn) =>
      recalled === null ? findIncoming(chain, read, listOwn) : recallIncoming(recalled, listOwn),
    listUnknown: (pool, log) => findUnknownTransactions({ pool, chain, log }, blocks.flatMap(sentIn)),
  }
}

async function readBlocks(chain: Node, first: bigint, last: bigint): Promise<FullBlock[]> {
  const numbers = Array.from({ length: Number(last - first) + 1 }, (_, offset) => first + BigInt(offset))
  const blocks = new Map<bigint, FullBlock>()
  await eachLimited(numbers, async (blockNumber) => {
    blocks.set(blockNumber, (await chain.client.getBlock({ blockNumber, includeTransactions: true })) as FullBlock)
  })
  return numbers.map((number) => blocks.get(number)!)
}

/** Returns the transactions of a block, which was read now or is known. */
const sentIn = (block: KnownBlock | FullBlock): SentTransaction[] =>
  'sent' in block
    ? block.sent
    : block.transactions.map(({ hash, from, nonce }) => ({ hash, from: getAddress(from), nonce }))

/** Lists movements to addresses of clients in blocks that were read with the receipts of all their transactions. */
async function recallIncoming(blocks: KnownBlock[], listOwn: ListOwn): Promise<BlockMovement[]> {
  const moved = blocks.flatMap((block) => (block.movements ?? []).map((entry) => ({ ...entry, block })))
  const known = await listOwn(new Set(moved.map(({ movement }) => movement.toAddress)))
  return moved.filter(({ movement }) => known.has(movement.toAddress))
}

async function findIncoming(chain: Node, blocks: FullBlock[], listOwn: ListOwn): Promise<BlockMovement[]> {
  const candidates = await findCandidates(chain, blocks, listOwn)
  const movementsOf = new Map<Hex, BlockMovement[]>()
  await eachLimited(candidates, async ({ transaction, block, known }) => {
    const txHash = transaction.hash
    const receipt = await chain.client.getTransactionReceipt({ hash: txHash })
    if (receipt.blockHash !== block.hash) throw new Error(`block ${block.number} was reorganised while it was read`)
    const movements = findMovements(transaction, receipt).filter(({ toAddress }) => known.has(toAddress))
    movementsOf.set(
      txHash,
      movements.map((movement) => ({ txHash, movement, block })),
    )
  })
  return candidates.flatMap(({ transaction }) => movementsOf.get(transaction.hash) ?? [])
}

type Candidate = { transaction: Transaction; block: FullBlock; known: Set<string> }

/** Lists the transactions that pay an address of a client, with the coin or in a Transfer log. Their receipts are read next. */
async function findCandidates(chain: Node, blocks: FullBlock[], listOwn: ListOwn): Promise<Candidate[]> {
  const logs = await readTransferLogs(chain, blocks)
  const recipients = new Map<Hex, Set<Address>>()
  for (const log of transferLogs(logs)) {
    if (log.transactionHash) addTo(recipients, log.transactionHash, log.args.to)
  }
  for (const { to, value, hash } of blocks.flatMap((block) => block.transactions)) {
    if (to !== null && value > 0n) addTo(recipients, hash, getAddress(to))
  }
  const known = await listOwn(new Set([...recipients.values()].flatMap((addresses) => [...addresses])))
  return blocks.flatMap((block) =>
    block.transactions
      .filter(({ hash }) => [...(recipients.get(hash) ?? [])].some((address) => known.has(address)))
      .map((transaction) => ({ transaction, block, known })),
  )
}

/** Nodes limit the logs or blocks per request; each refusal halves the next pass, each answer doubles it again. */
async function readTransferLogs(chain: Node, blocks: FullBlock[]) {
  const event = getAbiItem({ abi: erc20Abi, name: 'Transfer' })
  try {
    const logs = await chain.client.getLogs({ event, fromBlock: blocks[0]!.number, toBlock: blocks.at(-1)!.number })
    chain.scan.blocksMax = Math.min(chain.scan.blocksMax * 2, scanBlocksMax)
    return logs
  } catch (error) {
    chain.scan.blocksMax = Math.max(1, Math.floor(blocks.length / 2))
    throw error
  }
}

function addTo(sets: Map<Hex, Set<Address>>, key: Hex, address: Address) {
  const set = sets.get(key) ?? new Set()
  sets.set(key, set.add(address))
}

type MinedTransaction = { number: bigint; hash: string; listMovements(): Promise<Movement[]> }

/** Finds the block that contains a transaction; null when no block contains it. */
export async function findMined(chain: Node, hash: Hex): Promise<MinedTransaction | null> {
  const receipt = await chain.client.getTransactionReceipt({ hash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return null
    throw error
  })
  if (receipt === null) return null
  const listMovements = async () => findMovements(await chain.client.getTransaction({ hash }), receipt)
  return { number: receipt.blockNumber, hash: receipt.blockHash, listMovements }
}
