import type pg from 'pg'
import type { BlockMovement, BlockRange, Chain, Movement } from '../chain.ts'
import { eachLimited } from '../each-limited.ts'
import { findBlock, findTransaction, readFullBlock } from './blocks.ts'
import type { Outpoint, UtxoBlock, UtxoTransaction } from './utxo-block.ts'
import type { UtxoNode } from './utxo-node.ts'

/** The reward of a block can be spent this many blocks above it. */
const rewardDepth = 100n

/** The distance from a block that becomes final to the block whose reward becomes spendable. Some blocks are read twice at first. */
const lagOf = (confirmations: number) => max(rewardDepth - BigInt(confirmations) + 1n, 0n)

type ListOwn = Parameters<BlockRange['listMovements']>[0]

/** Reads a range of final blocks, and the rewards of those that became spendable with them. */
export async function readRange(
  node: UtxoNode,
  { first, last, headBlock, previousHead }: Parameters<Chain['readRange']>[0],
): Promise<BlockRange> {
  const blocks = await readBlocks(node, first, last)
  const rewards = {
    // If the range before had fewer confirmations, it ended nearer to its head, and its rewards ended further below it.
    first: max(min(first - lagOf(node.confirmations), previousHead - rewardDepth + 1n), first - rewardDepth),
    last: min(last, headBlock - rewardDepth),
  }
  return {
    blocks,
    listMovements: async (listOwn) => [
      ...(await listIncoming(node, blocks, listOwn)),
      ...(await listRewards(node, rewards, listOwn)),
    ],
    // `noteRange` finds them, after the deposits of the blocks, which they may spend, are stored.
    listUnknown: async () => [],
  }
}

async function readBlocks(node: UtxoNode, first: bigint, last: bigint): Promise<UtxoBlock[]> {
  const numbers = Array.from({ length: Number(last - first) + 1 }, (_, offset) => first + BigInt(offset))
  const blocks = new Map<bigint, UtxoBlock>()
  await eachLimited(numbers, async (number) => {
    blocks.set(number, await readFullBlock(node, number))
  })
  return numbers.map((number) => blocks.get(number)!)
}

export const readSeenBlocks = readBlocks

const isReward = ({ spends }: UtxoTransaction) => spends.length === 0

/** Lists payments to addresses of clients, without the change of known transactions. Marks the change of unknown transactions. */
async function listIncoming(node: UtxoNode, blocks: UtxoBlock[], listOwn: ListOwn): Promise<BlockMovement[]> {
  const paying = blocks.flatMap((block) =>
    block.transactions.filter((transaction) => !isReward(transaction)).map((transaction) => ({ block, transaction })),
  )
  const known = await listOwn(new Set(paying.flatMap(({ transaction }) => addressesOf(transaction))))
  const candidates = paying.filter(({ transaction }) => addressesOf(transaction).some((address) => known.has(address)))
  const senders = await listSenders(
    node.pool,
    candidates.map(({ transaction }) => transaction.hash),
  )
  const found: BlockMovement[] = []
  for (const { block, transaction } of candidates) {
    const sender = senders.get(transaction.hash)
    const outputs = transaction.outputs.filter(
      ({ address }) => address !== null && known.has(address) && address !== sender,
    )
    if (outputs.length === 0) continue
    const fromAddress = sender ?? (await readSender(node, transaction.spends))
    for (const { index, amount, address } of outputs) {
      const movement = { ...movementOf(index, amount, address!, fromAddress), isReturned: address === fromAddress }
      found.push({ txHash: transaction.hash, block, movement })
    }
  }
  return found
}

const movementOf = (index: number, amount: bigint, toAddress: string, fromAddress: string | null): Movement => ({
  contract: null,
  index,
  fromAddress,
  toAddress,
  amount,
})

const addressesOf = ({ outputs }: UtxoTransaction) => outputs.flatMap(({ address }) => address ?? [])

/** Returns the senders of the transactions that were signed here, by hash. */
async function listSenders(pool: pg.Pool, hashes: string[]): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ tx_hash: string; from_address: string }>(
    `select v.tx_hash, t.from_address from wallet.transactions v
     join wallet.transfers t on t.client_id = v.client_id and t.id = v.id where v.tx_hash = any($1)`,
    [hashes],
  )
  return new Map(rows.map(({ tx_hash, from_address }) => [tx_hash, from_address]))
}

/** Returns the address of all inputs; null when they have several addresses, or a script without an address. */
async function readSender(node: UtxoNode, spends: Outpoint[]): Promise<string | null> {
  const addresses = new Set<string | null>()
  for (const { txHash, index } of spends) {
    const parent = await findTransaction(node, txHash)
    addresses.add(parent?.outputs.find((output) => output.index === index)?.address ?? null)
    if (addresses.size > 1 || addresses.has(null)) return null
  }
  return [...addresses][0] ?? null
}

async function listRewards(
  node: UtxoNode,
  { first, last }: { first: bigint; last: bigint },
  listOwn: ListOwn,
): Promise<BlockMovement[]> {
  if (last < max(first, 0n)) return []
  const blocks = await readBlocks(node, max(first, 0n), last)
  const rewards = blocks.flatMap((block) =>
    block.transactions.filter(isReward).map((transaction) => ({ block, transaction })),
  )
  const known = await listOwn(new Set(rewards.flatMap(({ transaction }) => addressesOf(transaction))))
  return rewards.flatMap(({ block, transaction }) =>
    transaction.outputs
      .filter(({ address, amount }) => address !== null && amount > 0n && known.has(address))
      .map(({ index, amount, address }) => ({
        txHash: transaction.hash,
        block,
        movement: movementOf(index, amount, address!, null),
      })),
  )
}

/** Stores which transaction of these final blocks spent each output of clients, and what their deposits had spent. */
export async function noteSpent(tx: pg.PoolClient, network: string, blocks: UtxoBlock[]): Promise<void> {
  const spends = blocks.flatMap(({ number, transactions }) =>
    transactions.flatMap(({ hash, spends: spent }) => spent.map((coin) => ({ ...coin, by: hash, block: number }))),
  )
  const values = [
    network,
    spends.map(({ txHash }) => txHash),
    spends.map(({ index }) => index),
    spends.map(({ by }) => by),
    spends.map(({ block }) => block.toString()),
  ]
  for (const table of ['coins', 'deposit_sources'])
    await tx.query(
      `update wallet.${table} c set spent_by = s.spender, spent_block = s.block
       from unnest($2::text[], $3::int[], $4::text[], $5::bigint[]) as s (tx_hash, index, spender, block)
       where c.network = $1 and c.tx_hash = s.tx_hash and c.index = s.index and c.spent_by is distinct from s.spender`,
      values,
    )
}

/** Finds the block that contains a transaction; null when no block of the chain contains it. */
export async function findMined(node: UtxoNode, hash: string) {
  const found = await findTransaction(node, hash)
  const block = found?.blockHash == null ? null : await findBlock(node, found.blockHash)
  if (found === null || block === null) return null
  const listMovements = async (): Promise<Movement[]> =>
    found.outputs.flatMap(({ index, amount, address }) =>
      address === null ? [] : movementOf(index, amount, address, null),
    )
  return { number: block.number, hash: block.hash, listMovements }
}

const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a > b ? a : b)
