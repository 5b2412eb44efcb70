import type pg from 'pg'
import type { Logger } from 'pino'
import { type Chain, isOneChain } from '../chains/chain.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { lagBlocksMax, walkedAtOnceMax, walkedBlocksMax } from '../limits.ts'
import { askForTransfers, listInFlight } from './ask-for-transfers.ts'
import { forgetMinedAbove, noteMined, settleDeep } from './mined.ts'

type Parts = { pool: pg.Pool; chain: Chain; log: Logger }
/** The last block that was looked through. */
type Followed = { block: bigint; hash: string }

/**
 * One pass: looks the next blocks up to `headBlock` through for transactions of this wallet, and settles what is deep enough
 * below them. Returns true when there are more blocks.
 */
export async function followBlocks(parts: Parts, headBlock: bigint): Promise<boolean> {
  const { pool, chain } = parts
  const from = await findFollowed(pool, chain.network)
  if (from === null) return await leap(parts, from, headBlock)
  if (headBlock < from.block) return await fallBack(parts, from)
  const missed = headBlock - from.block
  const isLong = missed > BigInt(walkedBlocksMax) || (missed > 1n && !(await isAnyInFlight(pool, chain.network)))
  return isLong ? await leap(parts, from, headBlock) : await walk(parts, from, headBlock)
}

async function walk({ pool, chain, log }: Parts, from: Followed, headBlock: bigint): Promise<boolean> {
  const last = min(headBlock, from.block + BigInt(walkedAtOnceMax))
  if (last === from.block) return false
  const blocks = await chain.readSeenBlocks(from.block + 1n, last)
  if (!isOneChain(blocks, from.hash)) return await goBack({ pool, chain, log }, from, from.block)
  chain.remember(blocks)
  const { mined, passed } = await chain.findInBlocks(pool, blocks)
  await inTransaction(pool, async (tx) => {
    if (!(await moveFollowed(tx, chain.network, from, { block: last, hash: blocks.at(-1)!.hash }))) return
    await noteMined(tx, mined)
    await settleDeep(tx, chain, last, log)
  })
  await askForTransfers({ pool, chain, log }, passed, last)
  return last < headBlock
}

/** Moves to the head without reading the blocks between, and asks the node for each transfer in flight. */
async function leap({ pool, chain, log }: Parts, from: Followed | null, headBlock: bigint): Promise<boolean> {
  const { hash } = await chain.readBlock(headBlock)
  chain.known.clear()
  const inFlight = await listInFlight(pool, chain.network)
  await askForTransfers({ pool, chain, log }, inFlight, headBlock)
  await inTransaction(pool, async (tx) => {
    if (await moveFollowed(tx, chain.network, from, { block: headBlock, hash }))
      await settleDeep(tx, chain, headBlock, log)
  })
  return false
}

/** The height is below the followed block: another process is ahead, the node is behind another node, or the chain is shorter now. */
async function fallBack(parts: Parts, from: Followed): Promise<boolean> {
  const { chain } = parts
  const height = await chain.readHeight()
  if (height >= from.block) return true
  const known = chain.known.get(height)
  const isBehind =
    known === undefined
      ? from.block - height <= BigInt(lagBlocksMax)
      : (await chain.readBlock(height)).hash === known.hash
  return !isBehind && (await goBack(parts, from, height))
}

/** Goes back to the last block that the chain still has, which is at `highest` or below. */
async function goBack({ pool, chain, log }: Parts, from: Followed, highest: bigint): Promise<boolean> {
  const to = await findCommon(chain, from, highest)
  await inTransaction(pool, async (tx) => {
    if (await moveFollowed(tx, chain.network, from, to)) await forgetMinedAbove(tx, chain.network, to.block)
  })
  for (const number of chain.known.keys()) if (number > to.block) chain.known.delete(number)
  log.warn(
    { network: chain.network, block: to.block.toString() },
    'the chain was reorganised; blocks are followed again',
  )
  return true
}

async function findCommon(chain: Chain, from: Followed, highest: bigint): Promise<Followed> {
  const hashOf = async (block: bigint) => (await chain.readBlock(block)).hash
  for (let block = highest; block >= 0n; block -= 1n) {
    const known = block === from.block ? from.hash : chain.known.get(block)?.hash
    // After a start no blocks are known. Deeper blocks were final.
    if (known === undefined) {
      const deep = max(block - BigInt(chain.confirmations), 0n)
      return { block: deep, hash: await hashOf(deep) }
    }
    if ((await hashOf(block)) === known) return { block, hash: known }
  }
  return { block: 0n, hash: await hashOf(0n) }
}

async function findFollowed(pool: pg.Pool, network: string): Promise<Followed | null> {
  const { rows } = await pool.query<{ block: string; hash: string }>({
    name: 'find-followed',
    text: 'select block, hash from wallet.follows where network = $1',
    values: [network],
  })
  return rows[0] ? { block: BigInt(rows[0].block), hash: rows[0].hash } : null
}

/** Moves the cursor by compare-and-set, so that two processes never both write the results of a block. */
async function moveFollowed(tx: pg.PoolClient, network: string, from: Followed | null, to: Followed): Promise<boolean> {
  const { rowCount } =
    from === null
      ? await tx.query('insert into wallet.follows (network, block, hash) values ($1, $2, $3) on conflict do nothing', [
          network,
          to.block.toString(),
          to.hash,
        ])
      : await tx.query(
          `update wallet.follows set block = $4, hash = $5, updated_at = clock_timestamp()
           where network = $1 and block = $2 and hash = $3`,
          [network, from.block.toString(), from.hash, to.block.toString(), to.hash],
        )
  return rowCount === 1
}

async function isAnyInFlight(pool: pg.Pool, network: string): Promise<boolean> {
  const { rows } = await pool.query<{ any: boolean }>({
    name: 'any-in-flight',
    text: 'select exists (select from wallet.in_flight where network = $1) as any',
    values: [network],
  })
  return rows[0]!.any
}

const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a > b ? a : b)
