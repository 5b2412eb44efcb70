import { sql } from 'kysely'
import { claimRows } from '../db/claim.ts'
import { type Db, prepared, type Trx } from '../db/client.ts'
import { wake } from '../db/commits.ts'
import { newId } from '../lib/ids.ts'
import { mailAttemptsMax, mailLeaseMilliseconds } from '../lib/limits.ts'

/** A queued mail. Its request contains the facts; the text is composed when the mail is sent. */
export type QueuedMail = { id: string; request: unknown; attempts: number }

/** Queues a mail in the transaction of its subject. The mail is sent at least once. */
export async function enqueueMail(
  trx: Trx,
  request: { kind: string; [fact: string]: unknown },
  now: Date,
): Promise<void> {
  wake(trx, 'send-mails')
  await sql`
    insert into queued_mails (id, request, created_at, next_attempt_at)
    values (${newId(now)}, ${JSON.stringify(request)}, ${now}, ${now})`.execute(trx)
}

/** Claims up to `limit` mails that are due. */
export async function claimMails(db: Db, limit: number, now: Date): Promise<QueuedMail[]> {
  const { rows } = await sql<QueuedMail>`${prepared}
    with ${claimRows({
      table: 'queued_mails',
      key: ['id'],
      where: sql`n.next_attempt_at <= ${now}`,
      orderBy: sql`n.next_attempt_at`,
      limit,
      set: mailLease(now),
    })}
    select id, request, attempts from claimed order by id`.execute(db)
  return rows
}

/** SQL: counts an attempt to send the row `n`, and leases it. After the last attempt the row is no longer due. */
export function mailLease(now: Date) {
  const end = new Date(now.getTime() + mailLeaseMilliseconds)
  return sql`attempts = n.attempts + 1,
    next_attempt_at = case when n.attempts + 1 < ${mailAttemptsMax} then ${end}::timestamptz end`
}

/** Removes a mail that was sent or is no longer needed. */
export async function deleteMail(db: Db, id: string): Promise<void> {
  await sql`${prepared} delete from queued_mails where id = ${id}`.execute(db)
}

/** Ends a claim whose attempt failed, unless it was the last attempt or another node has claimed the mail since. */
export async function retryMail(db: Db, { id, attempts }: QueuedMail, at: Date): Promise<void> {
  await sql`
    update queued_mails set next_attempt_at = ${at}
    where id = ${id} and attempts = ${attempts} and attempts < ${mailAttemptsMax}`.execute(db)
}
