import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { type AppError, tooManyRequests } from '../../../lib/errors.ts'
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
 * Counts a request for a sign-in link, for known and unknown e-mail addresses alike. The limits are on the requests of the sender
 * for the address, and on all requests of the sender. Requests of other senders do not count, because they could otherwise lock
 * out the owner of the address. A lock on the sender serialises concurrent requests, on every node.
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
  // The next request is possible when the oldest counted attempt leaves the window.
  const freeAt = Math.max(by_pair?.getTime() ?? 0, by_sender?.getTime() ?? 0) + windowMilliseconds
  if (by_pair !== null || by_sender !== null) throw tooMany(freeAt - now.getTime())

  await trx.insertInto('sign_in_attempts').values({ email_hash: emailHash, sender, attempted_at: now }).execute()
}

/**
 * Counts a token or code that was wrong, used or expired. It runs after the redemption failed, so that others in the
 * same network cannot cause a working link to be refused. Concurrent requests may exceed the limit by a few.
 * @returns the error to throw when the sender failed too often, else null
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

/** As `countFailedRedemption`, in its own transaction, because the failed transaction only read or was rolled back. */
export function countFailedRequest(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  request: { ip: string },
): Promise<AppError | null> {
  return inTransaction(db, (trx) => countFailedRedemption(trx, senderOf(request.ip), clock()))
}

/** Locks an e-mail address until the transaction ends, so that decisions about it are made one after the other. */
export async function lockEmail(trx: Trx, email: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockKey(`email ${email}`)}::bigint)`.execute(trx)
}

function tooMany(waitMilliseconds: number): AppError {
  // A request that waited for the lock may be older than the attempts it finds; the pause could then exceed the window.
  const retryAfterSeconds = Math.min(Math.max(Math.ceil(waitMilliseconds / 1000), 1), signInWindowMinutes * 60)
  return tooManyRequests('rate_limited', 'Too many sign-in requests; try again later', retryAfterSeconds)
}

function lockKey(name: string): string {
  return sha256(`sign-in ${name}`).readBigInt64BE().toString()
}
