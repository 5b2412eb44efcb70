import type pg from 'pg'
import type { Logger } from 'pino'
import type { Block, Chain, Found, Mined } from '../chains/chain.ts'
import { nodeBatchMax } from '../limits.ts'
import { markLost, noteMined, settleDeep } from './mined.ts'
import { listTransactions } from './transactions.ts'
import type { TransferRow } from './transfer-row.ts'

type Parts = { pool: pg.Pool; chain: Chain; log: Logger }

/** Lists every transfer whose transaction is in no final block. */
export async function listInFlight(pool: pg.Pool, network: string): Promise<TransferRow[]> {
  const { rows } = await pool.query<TransferRow>(
    `select t.* from wallet.in_flight f join wallet.transfers t on t.client_id = f.client_id and t.id = f.id
     where f.network = $1 order by f.sequence`,
    [network],
  )
  return rows
}

/**
 * Asks the node for each of the transfers, in batches. Notes the transactions in blocks up to `lastBlock`, and settles those that are
 * deep enough, because the next block may be long in coming. A transaction that the node does not know is sent again.
 * @throws when the node does not answer
 */
export async function askForTransfers(parts: Parts, rows: TransferRow[], lastBlock: bigint): Promise<void> {
  let mined = 0
  for (let first = 0; first < rows.length; first += nodeBatchMax)
    mined += await askForSome(parts, rows.slice(first, first + nodeBatchMax), lastBlock)
  if (mined > 0) await settleDeep(parts.pool, parts.chain, lastBlock, parts.log)
}

/** Returns the number of transfers that are in a block. */
async function askForSome({ pool, chain, log }: Parts, rows: TransferRow[], lastBlock: bigint): Promise<number> {
  const transactionsOf = await listTransactions(pool, rows)
  const found = await Promise.all(rows.map((row) => chain.findTransfer(row, transactionsOf(row))))
  const mined: Mined[] = []
  const lost: TransferRow[] = []
  const blocks = new Map<bigint, Promise<Block>>()
  /** Returns null for a block above `lastBlock`, and for a block that is not in the chain any more. */
  const blockOf = async ({ blockNumber, blockHash }: Exclude<Found, string>) => {
    if (blockNumber > lastBlock) return null
    if (!blocks.has(blockNumber)) blocks.set(blockNumber, chain.readBlock(blockNumber))
    const block = await blocks.get(blockNumber)!
    return block.hash === blockHash ? block : null
  }
  for (const [position, row] of rows.entries()) {
    const place = found[position]!
    const block = typeof place === 'string' ? null : await blockOf(place)
    if (block !== null) mined.push({ row, ...(place as Exclude<Found, string>), block })
    // Lost: the chain has left its block, or the node does not know it. A transaction that was never broadcast is being sent.
    else if (row.block_number !== null || (place === 'unknown' && row.status === 'broadcast')) lost.push(row)
  }
  for (const { id, tx_hash: txHash } of lost)
    log.warn({ transferId: id, txHash }, 'the node does not know the transaction; it is sent again')
  await noteMined(pool, mined)
  await markLost(pool, lost)
  return mined.length
}

/** Asks for the transfers in flight one after the other, so that each is asked for once in a round. */
export class Rotation {
  readonly #roundMilliseconds: number
  #after = '0'
  #nextAt = 0
  #roundEnd = 0
  #isHurried = true

  constructor(roundSeconds: number) {
    this.#roundMilliseconds = roundSeconds * 1000
  }

  /** Starts a round without pauses: after an outage, the node may be another node, which does not know the transactions. */
  hurry(): void {
    this.#after = '0'
    this.#nextAt = 0
    this.#isHurried = true
  }

  isDue(): boolean {
    return Date.now() >= this.#nextAt
  }

  /** Asks for the next transfers if it is time. Returns true when more transfers are due at once. */
  async turn(parts: Parts, lastBlock: bigint): Promise<boolean> {
    if (!this.isDue()) return false
    const now = Date.now()
    if (this.#after === '0') this.#roundEnd = now + this.#roundMilliseconds
    const rows = await listWaiting(parts, this.#after)
    await askForTransfers(parts, rows, lastBlock)
    const left = Number(rows[0]?.left ?? 0)
    const isLast = left <= rows.length
    this.#after = isLast ? '0' : rows.at(-1)!.sequence
    const pause = Math.max(this.#roundEnd - now, 0) / Math.ceil(Math.max(left, 1) / nodeBatchMax)
    this.#nextAt = isLast ? this.#roundEnd : this.#isHurried ? 0 : now + pause
    if (isLast) this.#isHurried = false
    return this.#nextAt === 0
  }
}

/** Lists transfers that are in no block and are not sent again. `left` is the number of them after `after`. */
async function listWaiting({ pool, chain }: Parts, after: string): Promise<(TransferRow & { left: string })[]> {
  const { rows } = await pool.query<TransferRow & { left: string }>({
    name: 'list-waiting',
    text: `select t.*, count(*) over () as left from wallet.in_flight f
           cross join lateral (
             select * from wallet.transfers
             where client_id = f.client_id and id = f.id and status = 'broadcast' and block_number is null and not resend offset 0
           ) t
           where f.network = $1 and f.block_number is null and f.sequence > $2
           order by f.sequence limit ${nodeBatchMax}`,
    values: [chain.network, after],
  })
  return rows
}
