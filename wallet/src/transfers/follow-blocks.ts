import type pg from 'pg'
import type { Logger } from 'pino'
import type { Hex } from 'viem'
import type { SeenBlock } from '../chains/block.ts'
import { eachLimited } from '../chains/each-limited.ts'
import { type Chain, readHeight } from '../chains/open-chain.ts'
import { isOneChain, readSeenBlocks, rememberBlocks } from '../chains/seen-block.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { lagBlocksMax, walkedAtOnceMax, walkedBlocksMax } from '../limits.ts'
import { askForTransfers, listInFlight } from './ask-for-transfers.ts'
import { forgetMinedAbove, type Mined, noteMined, settleDeep } from './mined.ts'
import type { Transaction } from './transactions.ts'
import type { TransferRow } from './transfer-row.ts'

type Parts = { pool: pg.Pool; chain: Chain; log: Logger }
/** The last block that was looked through. */
type Followed = { block: bigint; hash: Hex }

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
  const blocks = await readSeenBlocks(chain, from.block + 1n, last)
  if (!isOneChain(blocks, from.hash)) return await goBack({ pool, chain, log }, from, from.block)
  rememberBlocks(chain, blocks)
  const { mined, passed } = await findInBlocks(pool, chain, blocks)
  await inTransaction(pool, async (tx) => {
    if (!(await moveFollowed(tx, chain.network, from, { block: last, hash: blocks.at(-1)!.hash }))) return
    await noteMined(tx, mined)
    await settleDeep(tx, chain, last, log)
  })
  await askForTransfers({ pool, chain, log }, passed, last)
  return last < headBlock
}

/** Without walking the blocks between: the node is asked for each transfer in flight. */
async function leap({ pool, chain, log }: Parts, from: Followed | null, headBlock: bigint): Promise<boolean> {
  const { hash } = await chain.client.getBlock({ blockNumber: headBlock })
  chain.known.clear()
  const inFlight = await listInFlight(pool, chain.network)
  await askForTransfers({ pool, chain, log }, inFlight, headBlock)
  await inTransaction(pool, async (tx) => {
    if (await moveFollowed(tx, chain.network, from, { block: headBlock, hash }))
      await settleDeep(tx, chain, headBlock, log)
  })
  return false
}

/** Another process may be ahead of the height that was read, or the node behind that of another; otherwise the chain is shorter. */
async function fallBack(parts: Parts, from: Followed): Promise<boolean> {
  const { chain } = parts
  const height = await readHeight(chain)
  if (height >= from.block) return true
  const known = chain.known.get(height)
  const isBehind =
    known === undefined
      ? from.block - height <= BigInt(lagBlocksMax)
      : (await chain.client.getBlock({ blockNumber: height })).hash === known.hash
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
  const hashOf = async (blockNumber: bigint) => (await chain.client.getBlock({ blockNumber })).hash
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
  const { rows } = await pool.query<{ block: string; hash: Hex }>({
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

type MinedHash = { mined_kind: Transaction['kind'] | null; mined_raw: Hex | null; mined_hash: Hex | null }

/**
 * The transfers whose transactions are in the blocks, and those whose nonce was passed by another transaction. One that was
 * signed and is not known to be broadcast may be mined as well.
 */
async function findInBlocks(pool: pg.Pool, chain: Chain, blocks: SeenBlock[]) {
  const places = new Map(
    blocks.flatMap((block) => block.transactions.map(({ hash, receipt }) => [hash, { block, receipt }] as const)),
  )
  const all = blocks.flatMap(({ transactions }) => transactions)
  if (all.length === 0) return { mined: [], passed: [] }
  const { rows } = await pool.query<TransferRow & MinedHash>({
    name: 'find-in-blocks',
    text: `select t.*, v.kind as mined_kind, v.raw_transaction as mined_raw, v.tx_hash as mined_hash
           from (select sender, max(nonce) as nonce from unnest($2::text[], $3::bigint[]) as b (sender, nonce) group by sender) s
           join wallet.in_flight f on f.network = $1 and f.from_address = s.sender and f.nonce <= s.nonce and f.block_number is null
           cross join lateral (
             select * from wallet.transfers
             where client_id = f.client_id and id = f.id and status in ('queued', 'broadcast') and block_number is null offset 0
           ) t
           left join lateral (
             select kind, raw_transaction, tx_hash from wallet.transactions
             where client_id = t.client_id and id = t.id and tx_hash = any($4)
           ) v on true`,
    values: [chain.network, all.map(({ from }) => from), all.map(({ nonce }) => nonce), all.map(({ hash }) => hash)],
  })
  const mined: Mined[] = []
  await eachLimited(
    rows.filter(({ mined_hash }) => mined_hash !== null),
    async ({ mined_kind, mined_raw, mined_hash, ...row }) => {
      const hash = mined_hash!
      const { block, ...seen } = places.get(hash)!
      const receipt = seen.receipt ?? (await chain.client.getTransactionReceipt({ hash }))
      if (receipt.blockHash !== block.hash) throw new Error(`block ${block.number} was reorganised while it was read`)
      mined.push({ row, transaction: { kind: mined_kind!, raw: mined_raw!, hash }, receipt, block })
    },
  )
  return { mined, passed: rows.filter(({ mined_hash }) => mined_hash === null) }
}

const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a > b ? a : b)
