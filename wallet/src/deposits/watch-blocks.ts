import type pg from 'pg'
import type { Logger } from 'pino'
import {
  type Address,
  type Block,
  erc20Abi,
  formatUnits,
  getAbiItem,
  getAddress,
  type Hex,
  type Transaction,
} from 'viem'
import type { KnownBlock, SentTransaction } from '../chains/block.ts'
import { eachLimited } from '../chains/each-limited.ts'
import type { Chain } from '../chains/open-chain.ts'
import { readDecimals } from '../chains/read-decimals.ts'
import { isOneChain, recallBlocks } from '../chains/seen-block.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { rescanBlocks, scanBlocksMax, watchDepthDefault } from '../limits.ts'
import { findUnknownTransactions, storeUnknownTransactions } from '../transfers/find-unknown-transactions.ts'
import { resendLostTransfers } from '../transfers/resend-lost-transfers.ts'
import { markDoubtful, noteReadBlocks, reportOrphans } from './doubtful-deposits.ts'
import { eventKey, findMovements, type Movement, transferLogs } from './find-movements.ts'
import { type FoundDeposit, storeDeposits } from './store-deposits.ts'

type Parts = { pool: pg.Pool; chain: Chain; log: Logger }
type Cursor = { nextBlock: bigint; previousHash: Hex | null }
type FullBlock = Block<bigint, true, 'latest'>

/** `moreBlocks` requests another pass at once; `events` is the number of stored events. */
export type WatchOutcome = { moreBlocks: boolean; events: number }

/**
 * One pass of the watcher: reads the next blocks that are deep enough below `headBlock` and stores their deposits together
 * with the advance of the cursor. `headBlock` must have been read before: an address that is unknown here cannot have been
 * issued before those blocks were mined.
 */
export async function watchBlocks(parts: Parts, headBlock: bigint): Promise<WatchOutcome> {
  const read = await readNextBlocks(parts, headBlock)
  // Last, so that a transaction that cannot be looked up keeps no deposit from being reported.
  const orphans = await reportOrphans(parts, headBlock)
  return { moreBlocks: read.moreBlocks || orphans.isMore, events: read.events + orphans.events }
}

async function readNextBlocks(parts: Parts, headBlock: bigint): Promise<WatchOutcome> {
  const { pool, chain } = parts
  const cursor = await openCursor(parts, headBlock)
  if (headBlock + 1n < cursor.nextBlock) {
    return await goBack(parts, { cursor, from: headBlock + 1n, why: 'the chain is shorter than it was' })
  }
  const depth = BigInt(chain.confirmations) - 1n
  const lastBlock = min(cursor.nextBlock + BigInt(chain.scan.blocksMax) - 1n, headBlock - depth)
  if (lastBlock < cursor.nextBlock) return { moreBlocks: false, events: 0 }

  const recalled = await recallBlocks(chain, { first: cursor.nextBlock, last: lastBlock, headBlock })
  const blocks = recalled ?? (await readBlocks(chain, cursor.nextBlock, lastBlock))
  if (!isOneChain(blocks, cursor.previousHash)) {
    return await goBack(parts, { cursor, from: cursor.nextBlock, why: 'the chain was reorganised below the cursor' })
  }
  const deposits = await (recalled === null
    ? findDeposits(parts, blocks as FullBlock[], headBlock)
    : recallDeposits(parts, recalled, headBlock))
  const unknown = await findUnknownTransactions(parts, blocks.flatMap(sentIn))
  const stored = await inTransaction(pool, async (tx) => {
    const next: Cursor = { nextBlock: lastBlock + 1n, previousHash: blocks.at(-1)!.hash }
    if (!(await moveCursor(tx, chain.network, { from: cursor, to: next, headBlock }))) return null
    const events = await storeDeposits(tx, deposits)
    await storeUnknownTransactions(tx, chain.network, unknown)
    await noteReadBlocks(tx, chain.network, blocks, watchDepthOf(chain))
    return events
  })
  // Null: another process moved the cursor first, so its events count and ours are dropped.
  return { moreBlocks: stored === null || lastBlock < headBlock - depth, events: stored ?? 0 }
}

async function openCursor({ pool, chain }: Parts, headBlock: bigint): Promise<Cursor> {
  const found = await findCursor(pool, chain.network)
  if (found) return found
  // Addresses may have been issued while the node could not be reached, so the first pass also looks back.
  const nextBlock =
    chain.startBlock === undefined ? max(headBlock + 1n - BigInt(rescanBlocks), 0n) : BigInt(chain.startBlock)
  await pool.query(
    'insert into wallet.cursors (network, next_block, head_block) values ($1, $2, $3) on conflict do nothing',
    [chain.network, nextBlock.toString(), headBlock.toString()],
  )
  return (await findCursor(pool, chain.network))!
}

async function findCursor(pool: pg.Pool, network: string): Promise<Cursor | undefined> {
  const { rows } = await pool.query<{ next_block: string; previous_hash: Hex | null }>({
    name: 'find-cursor',
    text: 'select next_block, previous_hash from wallet.cursors where network = $1',
    values: [network],
  })
  return rows[0] && { nextBlock: BigInt(rows[0].next_block), previousHash: rows[0].previous_hash }
}

/** Compare-and-set, so that two processes never both store the same blocks. */
async function moveCursor(
  tx: pg.Pool | pg.PoolClient,
  network: string,
  { from, to, headBlock }: { from: Cursor; to: Cursor; headBlock: bigint | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update wallet.cursors
     set next_block = $3, previous_hash = $4, head_block = coalesce($5, head_block), updated_at = clock_timestamp()
     where network = $1 and next_block = $2`,
    [network, from.nextBlock.toString(), to.nextBlock.toString(), to.previousHash, headBlock?.toString() ?? null],
  )
  return rowCount === 1
}

/** Reads the last blocks again, and looks their deposits up. Deposits that the chain still has are not reported again. */
async function goBack(
  { pool, chain, log }: Parts,
  { cursor, from, why }: { cursor: Cursor; from: bigint; why: string },
): Promise<WatchOutcome> {
  const depth = BigInt(Math.max(rescanBlocks, watchDepthOf(chain)))
  const nextBlock = max(from - depth, min(BigInt(chain.startBlock ?? 0), from))
  // The transactions come first: if this process ends in between, the cursor still shows that the chain went back.
  const resent = await resendLostTransfers(pool, chain)
  await inTransaction(pool, async (tx) => {
    const next: Cursor = { nextBlock, previousHash: null }
    if (!(await moveCursor(tx, chain.network, { from: cursor, to: next, headBlock: null }))) return
    await markDoubtful(tx, chain.network)
  })
  log.warn({ network: chain.network, nextBlock: nextBlock.toString(), resent }, `${why}; blocks are read again`)
  return { moreBlocks: true, events: 0 }
}

async function readBlocks(chain: Chain, first: bigint, last: bigint): Promise<FullBlock[]> {
  const numbers = Array.from({ length: Number(last - first) + 1 }, (_, offset) => first + BigInt(offset))
  const blocks = new Map<bigint, FullBlock>()
  await eachLimited(numbers, async (blockNumber) => {
    blocks.set(blockNumber, (await chain.client.getBlock({ blockNumber, includeTransactions: true })) as FullBlock)
  })
  return numbers.map((number) => blocks.get(number)!)
}

/** The transactions of a block, whether it was read anew or is known. */
const sentIn = (block: KnownBlock | FullBlock): SentTransaction[] =>
  'sent' in block
    ? block.sent
    : block.transactions.map(({ hash, from, nonce }) => ({ hash, from: getAddress(from), nonce }))

/** The deposits in blocks that were read with the receipts of all their transactions. */
async function recallDeposits(parts: Parts, blocks: KnownBlock[], headBlock: bigint): Promise<FoundDeposit[]> {
  const moved = blocks.flatMap((block) => (block.movements ?? []).map((entry) => ({ ...entry, block })))
  const known = await listKnown(parts, new Set(moved.map(({ movement }) => movement.toAddress)))
  const deposits: FoundDeposit[] = []
  for (const { txHash, movement, block } of moved) {
    if (!known.has(movement.toAddress)) continue
    const deposit = await toDeposit(parts, { movement, txHash, block, headBlock })
    if (deposit) deposits.push(deposit)
  }
  return deposits
}

async function findDeposits(parts: Parts, blocks: FullBlock[], headBlock: bigint): Promise<FoundDeposit[]> {
  const { chain } = parts
  const candidates = await findCandidates(parts, blocks)
  const perTransaction = new Map<Hex, FoundDeposit[]>()
  await eachLimited(candidates, async ({ transaction, block, known }) => {
    const receipt = await chain.client.getTransactionReceipt({ hash: transaction.hash })
    if (receipt.blockHash !== block.hash) throw new Error(`block ${block.number} was reorganised while it was read`)
    const movements = findMovements(transaction, receipt).filter(({ toAddress }) => known.has(toAddress))
    const deposits: FoundDeposit[] = []
    for (const movement of movements) {
      const deposit = await toDeposit(parts, { movement, txHash: transaction.hash, block, headBlock })
      if (deposit) deposits.push(deposit)
    }
    perTransaction.set(transaction.hash, deposits)
  })
  return candidates.flatMap(({ transaction }) => perTransaction.get(transaction.hash) ?? [])
}

type Candidate = { transaction: Transaction; block: FullBlock; known: Set<Address> }

/** Transactions that name a known address as recipient, of the coin or in a Transfer log; their receipts are read next. */
async function findCandidates(parts: Parts, blocks: FullBlock[]): Promise<Candidate[]> {
  const { chain } = parts
  const logs = await readTransferLogs(chain, blocks)
  const recipients = new Map<Hex, Set<Address>>()
  for (const log of transferLogs(logs)) {
    if (log.transactionHash) addTo(recipients, log.transactionHash, log.args.to)
  }
  for (const { to, value, hash } of blocks.flatMap((block) => block.transactions)) {
    if (to !== null && value > 0n) addTo(recipients, hash, getAddress(to))
  }
  const known = await listKnown(parts, new Set([...recipients.values()].flatMap((addresses) => [...addresses])))
  return blocks.flatMap((block) =>
    block.transactions
      .filter(({ hash }) => [...(recipients.get(hash) ?? [])].some((address) => known.has(address)))
      .map((transaction) => ({ transaction, block, known })),
  )
}

/** Returns those of the addresses that belong to this wallet. */
async function listKnown({ pool, chain }: Parts, addresses: Set<Address>): Promise<Set<Address>> {
  if (addresses.size === 0) return new Set()
  const { rows } = await pool.query<{ address: Address }>(
    'select address from wallet.addresses where network = $1 and address = any($2)',
    [chain.network, [...addresses]],
  )
  return new Set(rows.map(({ address }) => address))
}

/** Nodes limit the logs or blocks per request; each refusal halves the next pass, each answer doubles it again. */
async function readTransferLogs(chain: Chain, blocks: FullBlock[]) {
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

type Place = Pick<KnownBlock, 'number' | 'hash' | 'timestamp'>
type Found = { movement: Movement; txHash: Hex; block: Place; headBlock: bigint }

async function toDeposit(
  { pool, chain, log }: Parts,
  { movement, txHash, block, headBlock }: Found,
): Promise<FoundDeposit | null> {
  const decimals = movement.contract === null ? nativeDecimals : await readDecimals(pool, chain, movement.contract)
  if (decimals === null) {
    log.warn({ txHash, contract: movement.contract }, 'deposit of a token without usable decimals is not reported')
    return null
  }
  const { network } = chain
  return {
    key: eventKey({ network, txHash, movement }),
    network,
    block,
    amount: movement.amount,
    tx: {
      network,
      asset: movement.contract,
      amount: formatUnits(movement.amount, decimals),
      toAddress: movement.toAddress,
      txHash,
      index: movement.index,
      fromAddress: movement.fromAddress,
      blockTime: new Date(Number(block.timestamp) * 1000).toISOString(),
    },
    confirmations: Number(headBlock - block.number + 1n),
  }
}

const nativeDecimals = 18

const watchDepthOf = ({ watchDepth }: Chain) => watchDepth ?? watchDepthDefault

const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a > b ? a : b)
