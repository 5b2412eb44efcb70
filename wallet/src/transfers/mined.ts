import type pg from 'pg'
import type { Logger } from 'pino'
import type { Chain, Mined } from '../chains/chain.ts'
import type { TransferRow } from './transfer-row.ts'

type Db = pg.Pool | pg.PoolClient

/** Notes which transaction of each transfer is in a block. Whether it is final follows from the height alone. */
export async function noteMined(db: Db, mined: Mined[]): Promise<void> {
  if (mined.length === 0) return
  await db.query(
    `update wallet.transfers t
     set status = 'broadcast', fee = m.fee, block_number = m.block_number, block_time = m.block_time, mined_failure = m.failure,
         resend = false, raw_transaction = m.raw, tx_hash = m.hash, updated_at = clock_timestamp()
     from unnest($1::uuid[], $2::text[], $3::numeric[], $4::bigint[], $5::timestamptz[], $6::text[], $7::text[], $8::text[])
       as m (client_id, id, fee, block_number, block_time, failure, raw, hash)
     where t.client_id = m.client_id and t.id = m.id and t.status in ('queued', 'broadcast') and t.nonce is not null
       and (t.block_number, t.tx_hash) is distinct from (m.block_number, m.hash)`,
    [
      mined.map(({ row }) => row.client_id),
      mined.map(({ row }) => row.id),
      mined.map(({ fee }) => fee.toString()),
      mined.map(({ block }) => block.number.toString()),
      mined.map(({ block }) => new Date(Number(block.timestamp) * 1000)),
      mined.map(({ failure }) => failure),
      mined.map(({ transaction }) => transaction.raw),
      mined.map(({ transaction }) => transaction.hash),
    ],
  )
}

/** Ends the transfers whose block is as deep below `headBlock` as the network requires. */
export async function settleDeep(db: Db, chain: Chain, headBlock: bigint, log: Logger): Promise<void> {
  const { rows } = await db.query<{ id: string; tx_hash: string; failure_reason: string | null }>({
    name: 'settle-deep',
    text: `update wallet.transfers t
           set status = case when mined_failure is null then 'confirmed' else 'failed' end, failure_reason = mined_failure,
               confirmations = $2::bigint - block_number + 1, updated_at = clock_timestamp()
           from (
             select client_id, id from wallet.in_flight where network = $1 and block_number <= $2::bigint - $3::int + 1
           ) f
           where t.client_id = f.client_id and t.id = f.id and status = 'broadcast' and block_number <= $2::bigint - $3::int + 1
           returning t.id, tx_hash, failure_reason`,
    values: [chain.network, headBlock.toString(), chain.confirmations],
  })
  for (const { id, tx_hash: txHash, failure_reason: failureReason } of rows)
    log.info({ transferId: id, txHash, failureReason }, `transfer ${failureReason === null ? 'confirmed' : 'failed'}`)
}

/**
 * Forgets the blocks above `block`, which the chain no longer has. The transfers that were mined in them wait again, and their newest
 * transactions are sent again, because the node may have lost them.
 */
export async function forgetMinedAbove(db: Db, network: string, block: bigint): Promise<void> {
  await db.query(
    `update wallet.transfers t
     set ${unmined}, resend = true, attempts = 0, next_attempt_at = clock_timestamp(), updated_at = clock_timestamp()
     from (select client_id, id from wallet.in_flight where network = $1 and block_number > $2) f
     where t.client_id = f.client_id and t.id = f.id and status = 'broadcast' and block_number > $2`,
    [network, block.toString()],
  )
}

/** Marks transfers whose newest transactions the node does not have, so that the same bytes are sent again. */
export async function markLost(db: Db, rows: TransferRow[]): Promise<void> {
  if (rows.length === 0) return
  await db.query(
    `update wallet.transfers t
     set ${unmined}, updated_at = clock_timestamp(), resend = true,
         next_attempt_at = case when t.resend then t.next_attempt_at else clock_timestamp() end
     from unnest($1::uuid[], $2::text[], $3::text[]) as l (client_id, id, hash)
     where t.client_id = l.client_id and t.id = l.id and t.status = 'broadcast' and t.tx_hash = l.hash`,
    [rows.map(({ client_id }) => client_id), rows.map(({ id }) => id), rows.map(({ tx_hash }) => tx_hash)],
  )
}

/**
 * A transaction that was signed since is not overwritten: the newest one is being sent. Where transactions spend outputs, the one that was
 * mined is sent again, because later payments may spend its change.
 */
const unmined = `fee = null, confirmations = 0, block_number = null, block_time = null, mined_failure = null,
  (raw_transaction, tx_hash) = (select v.raw_transaction, v.tx_hash from wallet.transactions v
    where v.client_id = t.client_id and v.id = t.id and v.kind <> 'child'
    order by v.tx_hash = t.tx_hash and exists (
      select from wallet.transaction_inputs i where i.client_id = v.client_id and i.id = v.id) desc, v.number desc limit 1)`
