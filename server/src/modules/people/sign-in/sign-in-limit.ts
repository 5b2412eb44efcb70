import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { AppError } from '../../../lib/errors.ts'
import {
  failedRedemptionsPerSenderMax,
  signInsPerEmailAndSenderMax,
  signInsPerSenderMax,
  signInWindowMinutes,
} from '../../../lib/limits.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { senderOf } from '../../../lib/sender.ts'

const windowMilliseconds = signInWindowMinutes * 60_000

/**
 * Counts a request for a sign-in link, whether the e-mail is known or not: what this sender asked for this e-mail, and
 * what they asked for in all. What others ask for the same e-mail does not count, or they could lock its owner out. A
 * lock on the sender makes requests at the same time count one after the other, on every node.
 * @throws 429 with Retry-After in seconds
 */
export async function countSignInAttempt(trx: Trx, email: string, sender: string, now: Date): Promise<void> {
  const emailHash = sha256(email)
  await sql`select pg_advisory_xact_lock(${lockKey(`sender ${sender}`)}::bigint)`.execute(trx)

  const since = new Date(now.getTime() - windowMilliseconds)
  const { rows } = await sql<{ by_pair: Date | null; by_sender: Date | null }>`
    select
      (select attempted_at from sign_in_attempts
       where sender = ${sender} and email_hash = ${emailHash} and attempted_at > ${since}
       order by attempted_at desc offset ${signInsPerEmailAndSenderMax - 1} limit 1) as by_pair,
      (select attempted_at from sign_in_attempts where sender = ${sender} and attempted_at > ${since}
       order by attempted_at desc offset ${signInsPerSenderMax - 1} limit 1) as by_sender`.execute(trx)
  const { by_pair, by_sender } = rows[0]!
  // The limit is free again when the oldest attempt that fills it leaves the window.
  const freeAt = Math.max(by_pair?.getTime() ?? 0, by_sender?.getTime() ?? 0) + windowMilliseconds
  if (by_pair !== null || by_sender !== null) throw tooMany(freeAt - now.getTime())

  await trx.insertInto('sign_in_attempts').values({ email_hash: emailHash, sender, attempted_at: now }).execute()
}

/**
 * Counts a token or code that was wrong, used or expired. It is asked after the redemption failed, so that a link which
 * works is never refused for what others of the same network did. Requests at the same time may pass the limit by a few.
 * @returns what to answer when the sender failed too often, else null
 */
export async function countFailedRedemption(trx: Trx, sender: string, now: Date): Promise<AppError | null> {
  const { rows } = await sql<{ failed_at: Date }>`
    select failed_at from failed_redemptions
    where sender = ${sender} and failed_at > ${new Date(now.getTime() - windowMilliseconds)}
    order by failed_at desc offset ${failedRedemptionsPerSenderMax - 1} limit 1`.execute(trx)
  const oldest = rows[0]
  if (oldest !== undefined) return tooMany(oldest.failed_at.getTime() + windowMilliseconds - now.getTime())
  await trx.insertInto('failed_redemptions').values({ sender, failed_at: now }).execute()
  return null
}

/** As `countFailedRedemption`, in a transaction of its own: what failed was not a write, or was taken back. */
export function countFailedRequest(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  request: { ip: string },
): Promise<AppError | null> {
  return inTransaction(db, (trx) => countFailedRedemption(trx, senderOf(request.ip), clock()))
}

/** Serialises decisions about one e-mail address until the transaction ends. */
export async function lockEmail(trx: Trx, email: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockKey(`email ${email}`)}::bigint)`.execute(trx)
}

function tooMany(waitMilliseconds: number): AppError {
  // A request that waited for the lock may be older than the attempts it finds, and then the wait exceeds the window.
  const retryAfterSeconds = Math.min(Math.max(Math.ceil(waitMilliseconds / 1000), 1), signInWindowMinutes * 60)
  return new AppError(429, 'Too many sign-in requests; try again later', {
    headers: { 'retry-after': String(retryAfterSeconds) },
  })
}

function lockKey(name: string): string {
  return sha256(`sign-in ${name}`).readBigInt64BE().toString()
}
