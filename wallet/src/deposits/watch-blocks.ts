import type pg from 'pg'
import type { Logger } from 'pino'
import { type BlockMovement, type BlockRange, type Chain, isOneChain } from '../chains/chain.ts'
import { formatUnits } from '../chains/format-units.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { rescanBlocks, watchDepthDefault } from '../limits.ts'
import { storeUnknownTransactions } from '../transfers/store-unknown-transactions.ts'
import { markDoubtful, noteReadBlocks, reportOrphans } from './doubtful-deposits.ts'
import { eventKey, type FoundDeposit, storeDeposits } from './store-deposits.ts'

type Parts = { pool: pg.Pool; chain: Chain; log: Logger }
type Cursor = { nextBlock: bigint; previousHash: string | null }

/** `moreBlocks` requests another pass at once; `events` is the number of stored events. */
type WatchOutcome = { moreBlocks: boolean; events: number }

/**
 * One pass of the watcher: reads the next blocks that are deep enough below `headBlock` and stores their deposits together
 * with the advance of the cursor. `headBlock` must have been read before: an address that is unknown here cannot have been
 * issued before those blocks were mined.
 */
export async function watchBlocks(parts: Parts, headBlock: bigint): Promise<WatchOutcome> {
  const read = await readNextBlocks(parts, headBlock)
  // Orphans come last, so that a failing look-up does not delay the report of deposits.
  const orphans = await reportOrphans(parts, headBlock)
  return { moreBlocks: read.moreBlocks || orphans.isMore, events: read.events + orphans.events }
}

async function readNextBlocks(parts: Parts, headBlock: bigint): Promise<WatchOutcome> {
  const { pool, chain, log } = parts
  const cursor = await openCursor(parts, headBlock)
  if (headBlock + 1n < cursor.nextBlock) {
    return await goBack(parts, { cursor, from: headBlock + 1n, why: 'the chain is shorter than it was' })
  }
  const depth = BigInt(chain.confirmations) - 1n
  const lastBlock = min(cursor.nextBlock + BigInt(chain.scan.blocksMax) - 1n, headBlock - depth)
  if (lastBlock < cursor.nextBlock) return { moreBlocks: false, events: 0 }

  const { previousHead } = cursor
  const range = await chain.readRange({ first: cursor.nextBlock, last: lastBlock, headBlock, previousHead })
  const { blocks } = range
  if (!isOneChain(blocks, cursor.previousHash)) {
    return await goBack(parts, { cursor, from: cursor.nextBlock, why: 'the chain was reorganised below the cursor' })
  }
  const deposits = await findDeposits(parts, range, headBlock)
  const unknown = await range.listUnknown(pool, log)
  const stored = await inTransaction(pool, async (tx) => {
    const next: Cursor = { nextBlock: lastBlock + 1n, previousHash: blocks.at(-1)!.hash }
    if (!(await moveCursor(tx, chain.network, { from: cursor, to: next, headBlock }))) return null
    const events = await storeDeposits(tx, deposits)
    const spent = await chain.noteRange(tx, deposits, blocks, log)
    await storeUnknownTransactions(tx, chain.network, [...unknown, ...spent])
    await noteReadBlocks(tx, chain.network, blocks, watchDepthOf(chain))
    return events
  })
  // Null: another process moved the cursor first, so its events count and ours are dropped.
  return { moreBlocks: stored === null || lastBlock < headBlock - depth, events: stored ?? 0 }
}

type ReadCursor = Cursor & { previousHead: bigint }

async function openCursor({ pool, chain }: Parts, headBlock: bigint): Promise<ReadCursor> {
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

async function findCursor(pool: pg.Pool, network: string): Promise<ReadCursor | undefined> {
  const { rows } = await pool.query<{ next_block: string; previous_hash: string | null; head_block: string }>({
    name: 'find-cursor',
    text: 'select next_block, previous_hash, head_block from wallet.cursors where network = $1',
    values: [network],
  })
  const [row] = rows
  if (row === undefined) return undefined
  const { next_block, previous_hash, head_block } = row
  return { nextBlock: BigInt(next_block), previousHash: previous_hash, previousHead: BigInt(head_block) }
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

/** Sets the cursor back, so that the last blocks are read again, and puts deposits in doubt. Known deposits are not reported again. */
async function goBack(
  { pool, chain, log }: Parts,
  { cursor, from, why }: { cursor: Cursor; from: bigint; why: string },
): Promise<WatchOutcome> {
  const depth = BigInt(Math.max(rescanBlocks, watchDepthOf(chain)))
  const nextBlock = max(from - depth, min(BigInt(chain.startBlock ?? 0), from))
  // The transactions come first: if this process ends in between, the cursor still shows that the chain went back.
  const resent = await chain.resendLost(pool, nextBlock)
  await inTransaction(pool, async (tx) => {
    const next: Cursor = { nextBlock, previousHash: null }
    if (!(await moveCursor(tx, chain.network, { from: cursor, to: next, headBlock: null }))) return
    await markDoubtful(tx, chain.network)
  })
  log.warn({ network: chain.network, nextBlock: nextBlock.toString(), resent }, `${why}; blocks are read again`)
  return { moreBlocks: true, events: 0 }
}

async function findDeposits(parts: Parts, range: BlockRange, headBlock: bigint): Promise<FoundDeposit[]> {
  const deposits: FoundDeposit[] = []
  for (const found of await range.listMovements((addresses) => listKnown(parts, addresses))) {
    const deposit = await toDeposit(parts, found, headBlock)
    if (deposit) deposits.push(deposit)
  }
  return deposits
}

/** Returns those of the addresses that belong to this wallet. */
async function listKnown({ pool, chain }: Parts, addresses: Set<string>): Promise<Set<string>> {
  if (addresses.size === 0) return new Set()
  const { rows } = await pool.query<{ address: string }>(
    'select address from wallet.addresses where network = $1 and address = any($2)',
    [chain.network, [...addresses]],
  )
  return new Set(rows.map(({ address }) => address))
}

async function toDeposit(
  { pool, chain, log }: Parts,
  { movement, txHash, block }: BlockMovement,
  headBlock: bigint,
): Promise<FoundDeposit | null> {
  const { contract } = movement
  const decimals = contract === null ? chain.coinDecimals : await chain.findDecimals(pool, contract)
  if (decimals === null) {
    log.warn({ txHash, contract }, 'deposit of a token without usable decimals is not reported')
    return null
  }
  const { network } = chain
  return {
    key: eventKey({ network, txHash, movement }),
    network,
    block,
    amount: movement.amount,
    isReturned: movement.isReturned ?? false,
    tx: {
      network,
      asset: contract,
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

const watchDepthOf = ({ watchDepth }: Chain) => watchDepth ?? watchDepthDefault

const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a > b ? a : b)
