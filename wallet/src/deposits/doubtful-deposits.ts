import type pg from 'pg'
import type { Logger } from 'pino'
import type { Chain } from '../chains/chain.ts'
import { eachLimited } from '../chains/each-limited.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { doubtfulBatchMax } from '../limits.ts'
import type { DepositTransaction } from '../protocol.ts'
import { storeEvents, toOrphaned } from './store-deposits.ts'

/** Puts all watched deposits in doubt: the chain went back, and may have lost them. */
export async function markDoubtful(tx: pg.PoolClient, network: string): Promise<void> {
  await tx.query(
    `update wallet.deposits set is_doubtful = true
     where network = $1 and is_watched and orphaned_at is null and not is_doubtful`,
    [network],
  )
}

/**
 * Puts the deposits in doubt whose block the chain has replaced, and no longer watches the deposits that are deeper than `watchDepth`
 * below these blocks.
 */
export async function noteReadBlocks(
  tx: pg.PoolClient,
  network: string,
  blocks: { number: bigint; hash: string }[],
  watchDepth: number,
): Promise<void> {
  await tx.query(
    `update wallet.deposits d set is_doubtful = true
     from unnest($2::bigint[], $3::text[]) as b(number, hash)
     where d.network = $1 and d.block_number = b.number and d.block_hash <> b.hash and d.is_watched and d.orphaned_at is null`,
    [network, blocks.map(({ number }) => number.toString()), blocks.map(({ hash }) => hash)],
  )
  await tx.query(
    `update wallet.deposits set is_watched = false
     where network = $1 and block_number <= $2 and is_watched and orphaned_at is null and not is_doubtful`,
    [network, (blocks.at(-1)!.number - BigInt(watchDepth)).toString()],
  )
}

type Doubtful = {
  key: string
  blockNumber: string
  blockHash: string
  amount: string
  tx: DepositTransaction
  occurrence: number
}
/** The present place of a deposit that is deep enough to count; null when it has no such place. */
type Place = { number: bigint; hash: string } | null

/**
 * Looks up deposits in doubt, and reports the deposits that are not deep enough in the chain any more. A deposit above `headBlock`
 * stays in doubt: a node that is behind proves nothing. Returns the number of stored events, and if more deposits may be in doubt.
 */
export async function reportOrphans(
  { pool, chain, log }: { pool: pg.Pool; chain: Chain; log: Logger },
  headBlock: bigint,
): Promise<{ events: number; isMore: boolean }> {
  const { rows } = await pool.query<Doubtful>({
    name: 'list-doubtful',
    text: `select event_key as key, block_number as "blockNumber", block_hash as "blockHash", amount, tx, occurrence
           from wallet.deposits where network = $1 and is_doubtful and block_number <= $2
           order by block_number, event_key limit ${doubtfulBatchMax}`,
    values: [chain.network, headBlock.toString()],
  })
  let events = 0
  await eachLimited(rows, async (deposit) => {
    const place = await locate(chain, deposit, headBlock)
    if (place === null) log.warn({ txHash: deposit.tx.txHash }, 'the chain has lost a deposit that was reported')
    events += await inTransaction(pool, (tx) => settleDoubt(tx, deposit, place))
  })
  return { events, isMore: rows.length === doubtfulBatchMax }
}

/** @throws when the node is reorganising its chain just now */
async function locate(chain: Chain, { blockNumber, blockHash, amount, tx }: Doubtful, head: bigint): Promise<Place> {
  const readHash = async (number: bigint) => (await chain.readBlock(number)).hash
  if ((await readHash(BigInt(blockNumber))) === blockHash) return { number: BigInt(blockNumber), hash: blockHash }
  const mined = await chain.findMined(tx.txHash)
  if (mined === null || mined.number > head - BigInt(chain.confirmations) + 1n) return null
  const place = { number: mined.number, hash: mined.hash }
  if ((await readHash(place.number)) !== place.hash)
    throw new Error(`block ${place.number} was reorganised while it was read`)
  const toAddress = chain.readAddress('toAddress', tx.toAddress)
  const token = tx.asset === null ? null : chain.readContract('asset', tx.asset)
  const paid = (await mined.listMovements()).find(
    (movement) => movement.index === tx.index && movement.toAddress === toAddress && movement.contract === token,
  )
  return paid !== undefined && paid.amount === BigInt(amount) ? place : null
}

/** Ends the doubt about a deposit if its place is still the same. Another process may have been faster. */
async function settleDoubt(tx: pg.PoolClient, deposit: Doubtful, place: Place): Promise<number> {
  const { key, blockHash } = deposit
  const { rowCount } = await tx.query(
    `update wallet.deposits set is_doubtful = false, block_number = coalesce($3, block_number),
       block_hash = coalesce($4, block_hash), orphaned_at = case when $4::text is null then clock_timestamp() end
     where event_key = $1 and block_hash = $2 and is_doubtful`,
    [key, blockHash, place?.number.toString() ?? null, place?.hash ?? null],
  )
  return rowCount === 1 && place === null ? await storeEvents(tx, [toOrphaned(deposit)]) : 0
}
