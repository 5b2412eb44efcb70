import ipaddr from 'ipaddr.js'
import { sql } from 'kysely'
import type { Trx } from '../../db/client.ts'
import { AppError } from '../../lib/errors.ts'
import { signInsPerEmailMax, signInsPerIpMax, signInWindowMinutes } from '../../lib/limits.ts'
import { sha256 } from '../../lib/secrets.ts'

const windowMilliseconds = signInWindowMinutes * 60_000

/**
 * Counts a request for a sign-in link, whether the e-mail is known or not. Locks on the e-mail and on the sender make
 * requests at the same time count one after the other, on every node.
 * @throws 429 with Retry-After in seconds
 */
export async function countSignInAttempt(trx: Trx, email: string, ip: string, now: Date): Promise<void> {
  const emailHash = sha256(email)
  const sender = senderOf(ip)
  // In sorted order, so that two requests never wait for each other.
  const [first, second] = [lockKey(`email ${email}`), lockKey(`ip ${sender}`)].sort((a, b) => (a < b ? -1 : 1))
  await sql`select pg_advisory_xact_lock(${first!}::bigint), pg_advisory_xact_lock(${second!}::bigint)`.execute(trx)

  const since = new Date(now.getTime() - windowMilliseconds)
  const { rows } = await sql<{ by_email: Date | null; by_ip: Date | null }>`
    select
      (select attempted_at from sign_in_attempts where email_hash = ${emailHash} and attempted_at > ${since}
       order by attempted_at desc offset ${signInsPerEmailMax - 1} limit 1) as by_email,
      (select attempted_at from sign_in_attempts where ip = ${sender} and attempted_at > ${since}
       order by attempted_at desc offset ${signInsPerIpMax - 1} limit 1) as by_ip`.execute(trx)
  const { by_email, by_ip } = rows[0]!
  // The limit is free again when the oldest attempt that fills it leaves the window.
  const freeAt = Math.max(by_email?.getTime() ?? 0, by_ip?.getTime() ?? 0) + windowMilliseconds
  if (by_email !== null || by_ip !== null) throw tooMany(freeAt - now.getTime())

  await trx.insertInto('sign_in_attempts').values({ email_hash: emailHash, ip: sender, attempted_at: now }).execute()
}

function tooMany(waitMilliseconds: number): AppError {
  // A request that waited for the lock may be older than the attempts it finds, and then the wait exceeds the window.
  const retryAfterSeconds = Math.min(Math.max(Math.ceil(waitMilliseconds / 1000), 1), signInWindowMinutes * 60)
  return new AppError(429, 'Too many sign-in requests; try again later', {
    headers: { 'retry-after': String(retryAfterSeconds) },
  })
}

/** An IPv6 host owns the whole /64 network that it is in, so that is what counts. */
function senderOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  const network = (address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}

function lockKey(name: string): string {
  return sha256(`sign-in ${name}`).readBigInt64BE().toString()
}
