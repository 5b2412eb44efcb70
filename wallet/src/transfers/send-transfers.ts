import type pg from 'pg'
import type { Logger } from 'pino'
import type { Hex } from 'viem'
import type { AuthorityStore } from '../authority/store.ts'
import { describeNodeError } from '../chains/describe-node-error.ts'
import { type Chain, readHead } from '../chains/open-chain.ts'
import type { Keyring } from '../keys/keyring.ts'
import { sendBackoffSecondsMax, sendBatchMax, sendLeaseSeconds } from '../limits.ts'
import { broadcastTransaction, isKnown } from './broadcast-transaction.ts'
import { signTransfer } from './sign-transfer.ts'
import { listTransactions } from './transactions.ts'
import type { TransferRow } from './transfer-row.ts'

type Parts = { pool: pg.Pool; keyring: Keyring; authorities: AuthorityStore | null; chain: Chain; log: Logger }

/** One pass over the transfers that are due: sign what is unsigned, broadcast what is signed. Returns how many were due. */
export async function sendTransfers(parts: Parts): Promise<number> {
  const { pool, chain } = parts
  if (!(await isAnyDue(pool, chain.network))) return 0
  // A node that is down is noticed before anything is claimed, so that an outage costs no transfer its backoff.
  await readHead(chain)
  const due = await claimDue(pool, chain.network)
  // Within one address the order decides the nonces; different addresses are independent.
  const byAddress = groupByAddress(due)
  await Promise.all(
    [...byAddress.values()].map(async (rows) => {
      for (const row of rows) await sendTransfer(parts, row)
    }),
  )
  return due.length
}

async function sendTransfer({ pool, keyring, authorities, chain, log }: Parts, row: TransferRow): Promise<void> {
  try {
    let raw = row.raw_transaction
    let hash = row.tx_hash
    if (raw === null || hash === null) {
      const outcome = await signTransfer({ pool, keyring, authorities, chain }, row)
      if (outcome.kind === 'taken') return
      if (outcome.kind === 'failed') {
        log.warn({ transferId: row.id, reason: outcome.reason }, 'transfer failed before it was signed')
        return
      }
      if (outcome.kind === 'wait') return await postpone(pool, log, row, outcome.reason)
      raw = outcome.rawTransaction
      hash = outcome.hash
      log.info({ transferId: row.id, txHash: hash }, 'transfer signed')
    }
    const broadcast = await broadcastTransaction(chain, { raw, hash })
    if (!broadcast.accepted) {
      // The node may have an earlier transaction of the same nonce, which is as good as this one.
      if (row.status === 'queued' && (await isAnyKnown(pool, chain, row))) await noteBroadcast(pool, row)
      return await postpone(pool, log, row, broadcast.reason)
    }
    await markBroadcast(pool, row, hash)
    log.info({ transferId: row.id, txHash: hash, again: row.resend }, 'transfer broadcast')
  } catch (error) {
    await postpone(pool, log, row, describeNodeError(error))
  }
}

async function isAnyDue(pool: pg.Pool, network: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'any-transfer-due',
    text: `select from wallet.transfers
           where network = $1 and (status = 'queued' or resend) and next_attempt_at <= clock_timestamp() limit 1`,
    values: [network],
  })
  return rowCount === 1
}

/** Claims by moving the next attempt behind a lease, so that the claim of a crashed process ends by itself. */
async function claimDue(pool: pg.Pool, network: string): Promise<TransferRow[]> {
  const { rows } = await pool.query<TransferRow>(
    `update wallet.transfers t
     set next_attempt_at = clock_timestamp() + make_interval(secs => $3), attempts = t.attempts + 1
     from (
       select client_id, id from wallet.transfers
       where network = $1 and (status = 'queued' or resend) and next_attempt_at <= clock_timestamp()
       order by sequence limit $2 for update skip locked
     ) due
     where t.client_id = due.client_id and t.id = due.id
     returning t.*`,
    [network, sendBatchMax, sendLeaseSeconds],
  )
  return rows.sort(bySigningOrder)
}

/** Signed ones first and by nonce, because a later nonce cannot be mined before an earlier one; then the oldest order. */
function bySigningOrder(a: TransferRow, b: TransferRow): number {
  if (a.nonce !== null && b.nonce !== null) return Number(a.nonce) - Number(b.nonce)
  if (a.nonce !== null || b.nonce !== null) return a.nonce === null ? 1 : -1
  return Number(BigInt(a.sequence) - BigInt(b.sequence))
}

/** A transaction that was replaced since is not the one that must be sent. */
async function markBroadcast(pool: pg.Pool, { client_id, id }: TransferRow, hash: Hex): Promise<void> {
  await pool.query(
    `update wallet.transfers
     set status = case when status = 'queued' then 'broadcast' else status end,
         resend = false, attempts = 0, last_error = null, updated_at = clock_timestamp()
     where client_id = $1 and id = $2 and tx_hash = $3`,
    [client_id, id, hash],
  )
}

async function isAnyKnown(pool: pg.Pool, chain: Chain, row: TransferRow): Promise<boolean> {
  const transactions = (await listTransactions(pool, [row]))(row)
  for (const { hash } of transactions) if (await isKnown(chain, hash)) return true
  return false
}

async function noteBroadcast(pool: pg.Pool, { client_id, id }: TransferRow): Promise<void> {
  await pool.query(
    `update wallet.transfers set status = 'broadcast', resend = true, updated_at = clock_timestamp()
     where client_id = $1 and id = $2 and status = 'queued'`,
    [client_id, id],
  )
}

async function postpone(pool: pg.Pool, log: Logger, row: TransferRow, reason: string): Promise<void> {
  const seconds = Math.min(2 ** Math.min(row.attempts, 10) / 2, sendBackoffSecondsMax)
  log.warn({ transferId: row.id, reason, retryAfterSeconds: seconds }, 'transfer waits')
  await pool.query(
    `update wallet.transfers set next_attempt_at = clock_timestamp() + make_interval(secs => $3), last_error = $4
     where client_id = $1 and id = $2`,
    [row.client_id, row.id, seconds, reason],
  )
}

function groupByAddress(rows: TransferRow[]): Map<string, TransferRow[]> {
  const groups = new Map<string, TransferRow[]>()
  for (const row of rows) groups.set(row.from_address, [...(groups.get(row.from_address) ?? []), row])
  return groups
}
