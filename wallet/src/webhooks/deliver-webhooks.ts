import type pg from 'pg'
import type { Logger } from 'pino'
import {
  webhookBackoffSecondsMax,
  webhookBatchMax,
  webhookLeaseSeconds,
  webhookTimeoutMilliseconds,
} from '../limits.ts'
import { signWebhook } from './sign-webhook.ts'

type Parts = { pool: pg.Pool; log: Logger; webhookUrl: string; webhookSecret: string }
type Delivery = { id: string; body: string; attempts: number }

/**
 * One pass over the deliveries that are due. A delivery stays due until the receiver has answered 2xx. Returns true when more deliveries
 * may be due, otherwise the milliseconds until the first failed delivery is tried again, or false when none failed.
 */
export async function deliverWebhooks(parts: Parts): Promise<boolean | number> {
  const due = await claimDue(parts.pool)
  const pauses = await Promise.all(due.map((delivery) => deliver(parts, delivery)))
  const failed = pauses.filter((seconds) => seconds !== null)
  if (due.length === webhookBatchMax) return true
  return failed.length === 0 ? false : Math.min(...failed) * 1000
}

async function claimDue(pool: pg.Pool): Promise<Delivery[]> {
  const { rows } = await pool.query<Delivery>({
    name: 'claim-webhooks',
    text: `update wallet.webhook_deliveries d
           set attempts = d.attempts + 1, next_attempt_at = clock_timestamp() + make_interval(secs => $2)
           from (
             select id from wallet.webhook_deliveries
             where delivered_at is null and next_attempt_at <= clock_timestamp()
             order by next_attempt_at, sequence limit $1 for update skip locked
           ) due
           where d.id = due.id
           returning d.id, d.body, d.attempts`,
    values: [webhookBatchMax, webhookLeaseSeconds],
  })
  return rows
}

/** Returns the seconds until the next attempt; null when the delivery was accepted. */
async function deliver({ pool, log, webhookUrl, webhookSecret }: Parts, delivery: Delivery): Promise<number | null> {
  const fault = await post(webhookUrl, webhookSecret, delivery)
  if (fault === null) {
    await pool.query(
      'update wallet.webhook_deliveries set delivered_at = clock_timestamp(), last_error = null where id = $1',
      [delivery.id],
    )
    log.info({ event: delivery.id }, 'deposit reported')
    return null
  }
  const seconds = Math.min(2 ** Math.min(delivery.attempts - 1, 20), webhookBackoffSecondsMax)
  log.warn({ event: delivery.id, fault, retryAfterSeconds: seconds }, 'deposit could not be reported')
  await pool.query(
    `update wallet.webhook_deliveries
     set next_attempt_at = clock_timestamp() + make_interval(secs => $2), last_error = $3
     where id = $1 and delivered_at is null`,
    [delivery.id, seconds, fault],
  )
  return seconds
}

/** Sends a delivery. Returns null on 2xx, otherwise the fault. Follows no redirects: a signed deposit goes to the configured URL only. */
async function post(url: string, secret: string, { id, body }: Delivery): Promise<string | null> {
  const signature = signWebhook(secret, { id, timestampSeconds: Math.floor(Date.now() / 1000), body })
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signature },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(webhookTimeoutMilliseconds),
    })
    await response.body?.cancel()
    return response.status >= 200 && response.status < 300 ? null : `status ${response.status}`
  } catch (error) {
    const { cause } = error as Error
    return cause instanceof Error ? cause.message : (error as Error).message
  }
}
