import type pg from 'pg'
import type { Logger } from 'pino'
import { wasSigned } from '../authority/verify-stored.ts'
import type { Chain, Pass, Sender, Signable } from '../chains/chain.ts'
import { describeNodeError } from '../chains/node-error.ts'
import { nodeBatchMax, sendBackoffSecondsMax, sendBatchMax, sendLeaseSeconds } from '../limits.ts'
import { failUnsigned, findUnauthorized, isAnyProtected, type Signer, signTransfers } from './sign-transfers.ts'
import { listTransactions } from './transactions.ts'
import type { TransferRow } from './transfer-row.ts'

type Parts = Signer & { log: Logger }
/** The pause before rows are looked at again that another process has locked or claimed. */
const lockedMilliseconds = 200

type SignedRow = { row: TransferRow; raw: string; hash: string }

/**
 * One pass over the transfers that are due: signs those without a transaction, and broadcasts the transactions. State that all transfers
 * share is read once, and calls to the node travel together. Returns true when more transfers may be due, otherwise the milliseconds until
 * the next transfer is due, or false when no transfer waits.
 */
export async function sendTransfers(parts: Parts): Promise<boolean | number> {
  const { pool, chain } = parts
  const nextDue = await findNextDue(pool, chain.network)
  if (nextDue === null || nextDue > 0) return nextDue ?? false
  // A node that is down is noticed before anything is claimed, so that an outage costs no transfer its backoff.
  const pass = await chain.openPass()
  const due = await claimDue(pool, chain.network)
  await parts.at?.('claimed')
  // Within one address the order decides the nonces; different addresses are independent.
  await Promise.all([...groupByAddress(due).values()].map((rows) => sendOfAddress(parts, rows, pass)))
  return due.length > 0 || lockedMilliseconds
}

async function sendOfAddress(parts: Parts, rows: TransferRow[], pass: Pass): Promise<void> {
  const signed = rows.flatMap((row) =>
    row.raw_transaction === null || row.tx_hash === null ? [] : [{ row, raw: row.raw_transaction, hash: row.tx_hash }],
  )
  const unsigned = rows.filter(({ raw_transaction, tx_hash }) => raw_transaction === null || tx_hash === null)
  try {
    const stop = await broadcastInOrder(parts, signed)
    if (stop !== null) return await postponeAll(parts, unsigned, stop)
    await broadcastInOrder(parts, await signInOrder(parts, unsigned, pass))
  } catch (error) {
    await postponeAll(parts, unsigned, describeNodeError(error))
  }
}

/** Signs the transfers that can be signed now. Other transfers fail, or are postponed with a reason. */
async function signInOrder(parts: Parts, rows: TransferRow[], pass: Pass): Promise<SignedRow[]> {
  const first = rows[0]
  if (first === undefined) return []
  const sender = await pass.openSender(parts.pool, first)
  const isProtected = await isAnyProtected(parts.pool, parts.authorities, rows)
  const planned = await Promise.all(rows.map((row) => planOne(parts, row, { sender, isProtected })))
  await parts.at?.('planned')
  const signable = planned.filter((plan) => plan !== null)
  const outcomes = await signTransfers(parts, signable, { sender, isProtected })
  const signed: SignedRow[] = []
  for (const { transfer: row } of signable) {
    const outcome = outcomes.get(row)!
    if (outcome.kind === 'wait') {
      sender.forget()
      await postpone(parts, row, outcome.reason)
    }
    if (outcome.kind !== 'signed') continue
    const { raw, hash } = outcome
    parts.log.info({ transferId: row.id, txHash: hash }, 'transfer signed')
    signed.push({ row, raw, hash })
  }
  return signed
}

type Shared = { sender: Sender; isProtected: boolean }

/** Returns null when the transfer is not signed now; its row has the reason. */
async function planOne(parts: Parts, row: TransferRow, { sender, isProtected }: Shared): Promise<Signable | null> {
  const { pool, authorities, chain } = parts
  try {
    const unauthorized = isProtected ? await findUnauthorized({ db: pool, authorities, chain }, row) : null
    const plan = unauthorized ?? (await sender.plan(row))
    if (plan.kind === 'possible') return { transfer: row, plan }
    const doubt = plan.kind === 'impossible' ? await findDoubt(parts, sender, row) : null
    if (doubt !== null) sender.forget()
    if (plan.kind !== 'impossible' || doubt !== null) await postpone(parts, row, joined(doubt, plan.reason))
    else if (await failUnsigned(pool, row, plan.reason)) noteFailed(parts, row, plan.reason)
  } catch (error) {
    await postpone(parts, row, describeNodeError(error))
  }
  return null
}

/** Returns the reason why an order may have been paid: `failed` means that the amount has not moved. Null when it was not paid. */
async function findDoubt({ pool, authorities }: Parts, sender: Sender, row: TransferRow): Promise<string | null> {
  if (await wasSigned(authorities, row)) return 'ALREADY_SIGNED: the order may have been mined'
  return await sender.findDoubt(pool)
}

const joined = (doubt: string | null, reason: string) => (doubt === null ? reason : `${doubt}; ${reason}`)

const noteFailed = ({ log }: Parts, { id }: TransferRow, reason: string) =>
  log.warn({ transferId: id, reason }, 'transfer failed before it was signed')

/**
 * Broadcasts in the order of the nonces, many transactions in one request. If the node refuses a transaction that it has never taken, the
 * transactions of later requests wait. Returns the reason for which they wait; null when they need not wait.
 */
async function broadcastInOrder(parts: Parts, signed: SignedRow[]): Promise<string | null> {
  const { pool, chain, log } = parts
  for (let first = 0; first < signed.length; first += nodeBatchMax) {
    const some = signed.slice(first, first + nodeBatchMax)
    const outcomes = await Promise.all(some.map((transaction) => chain.broadcast(transaction)))
    await parts.at?.('sent')
    const accepted = some.filter((_, position) => outcomes[position]!.accepted)
    await markBroadcast(pool, accepted)
    await parts.at?.('marked')
    for (const { row, hash } of accepted)
      log.info({ transferId: row.id, txHash: hash, again: row.resend }, 'transfer broadcast')
    let stop: string | null = null
    for (const [position, { row }] of some.entries()) {
      const outcome = outcomes[position]!
      if (outcome.accepted) continue
      const isReplaced = await noteRefused(parts, row, outcome.reason)
      const isFirst = row.status === 'queued' && !outcome.isPassed && !isReplaced
      if (isFirst) stop ??= `an earlier transfer of the address is refused: ${outcome.reason}`
    }
    if (stop === null) continue
    const behind = signed.slice(first + nodeBatchMax).map(({ row }) => row)
    await postponeAll(parts, behind, stop)
    return stop
  }
  return null
}

/** Returns true when the node has an earlier transaction of the same nonce, which is as good as this one. */
async function noteRefused(parts: Parts, row: TransferRow, reason: string): Promise<boolean> {
  const isReplaced = await isAnyKnown(parts.pool, parts.chain, row)
  if (row.status === 'queued' && isReplaced) await noteBroadcast(parts.pool, row)
  await postpone(parts, row, reason)
  return isReplaced
}

/** Returns the milliseconds until the next transfer is due; null if no transfer waits. A transfer that is due may be claimed already. */
async function findNextDue(pool: pg.Pool, network: string): Promise<number | null> {
  const { rows } = await pool.query<{ milliseconds: number }>({
    name: 'next-transfer-due',
    text: `select (extract(epoch from min(
             case when s.due_at > clock_timestamp() then s.due_at
               else (select t.next_attempt_at from wallet.transfers t where t.client_id = s.client_id and t.id = s.id) end
           ) - clock_timestamp()) * 1000)::float8 as milliseconds
           from wallet.to_send s where s.network = $1`,
    values: [network],
  })
  return rows[0]?.milliseconds ?? null
}

/** Claims by moving the next attempt behind a lease, so that the claim of a crashed process ends by itself. */
async function claimDue(pool: pg.Pool, network: string): Promise<TransferRow[]> {
  const { rows } = await pool.query<TransferRow>(
    `update wallet.transfers t
     set next_attempt_at = clock_timestamp() + make_interval(secs => $3), attempts = t.attempts + 1
     from (
       select w.client_id, w.id
       from (select client_id, id from wallet.to_send where network = $1 and due_at <= clock_timestamp() order by sequence) s
       cross join lateral (
         select client_id, id from wallet.transfers
         where client_id = s.client_id and id = s.id and (status = 'queued' or resend) and next_attempt_at <= clock_timestamp()
         for update skip locked
       ) w
       limit $2
     ) due
     where t.client_id = due.client_id and t.id = due.id
     returning t.*`,
    [network, sendBatchMax, sendLeaseSeconds],
  )
  return rows.sort(bySigningOrder)
}

/** Signed transfers first, by nonce, because a later nonce cannot be mined before an earlier nonce; then the others, oldest first. */
function bySigningOrder(a: TransferRow, b: TransferRow): number {
  if (a.nonce !== null && b.nonce !== null) return Number(a.nonce) - Number(b.nonce)
  if (a.nonce !== null || b.nonce !== null) return a.nonce === null ? 1 : -1
  return Number(BigInt(a.sequence) - BigInt(b.sequence))
}

/** Updates a row only if its transaction was not replaced since. */
async function markBroadcast(pool: pg.Pool, signed: SignedRow[]): Promise<void> {
  if (signed.length === 0) return
  await pool.query(
    `update wallet.transfers t
     set status = case when t.status = 'queued' then 'broadcast' else t.status end,
         resend = false, attempts = 0, last_error = null, updated_at = clock_timestamp()
     from unnest($1::uuid[], $2::text[], $3::text[]) as s (client_id, id, hash)
     where t.client_id = s.client_id and t.id = s.id and t.tx_hash = s.hash`,
    [signed.map(({ row }) => row.client_id), signed.map(({ row }) => row.id), signed.map(({ hash }) => hash)],
  )
}

async function isAnyKnown(pool: pg.Pool, chain: Chain, row: TransferRow): Promise<boolean> {
  const transactions = (await listTransactions(pool, [row]))(row)
  for (const { hash } of transactions) if (await chain.isKnown(hash)) return true
  return false
}

async function noteBroadcast(pool: pg.Pool, { client_id, id }: TransferRow): Promise<void> {
  await pool.query(
    `update wallet.transfers set status = 'broadcast', resend = true, updated_at = clock_timestamp()
     where client_id = $1 and id = $2 and status = 'queued'`,
    [client_id, id],
  )
}

const postpone = (parts: Parts, row: TransferRow, reason: string) => postponeAll(parts, [row], reason)

async function postponeAll({ pool, log }: Parts, rows: TransferRow[], reason: string): Promise<void> {
  if (rows.length === 0) return
  const seconds = rows.map(({ attempts }) => Math.min(2 ** Math.min(attempts, 10) / 2, sendBackoffSecondsMax))
  for (const [position, { id }] of rows.entries())
    log.warn({ transferId: id, reason, retryAfterSeconds: seconds[position] }, 'transfer waits')
  await pool.query(
    `update wallet.transfers t
     set next_attempt_at = clock_timestamp() + make_interval(secs => w.seconds), last_error = $4
     from unnest($1::uuid[], $2::text[], $3::float8[]) as w (client_id, id, seconds)
     where t.client_id = w.client_id and t.id = w.id and (t.status = 'queued' or t.resend)`,
    [rows.map(({ client_id }) => client_id), rows.map(({ id }) => id), seconds, reason],
  )
}

function groupByAddress(rows: TransferRow[]): Map<string, TransferRow[]> {
  const groups = new Map<string, TransferRow[]>()
  for (const row of rows) groups.set(row.from_address, [...(groups.get(row.from_address) ?? []), row])
  return groups
}
