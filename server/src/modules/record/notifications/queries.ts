import { sql } from 'kysely'
import type { Db } from '../../../db/client.ts'
import { notificationAttemptsMax, notificationLeaseMilliseconds } from '../../../lib/limits.ts'
import { nameOfUser } from './names.ts'

export type NotificationKey = {
  /** `platform` for a change that belongs to no vault. */
  vault_id: string
  subject_id: string
  user_id: string
  kind: 'approval_needed' | 'decided' | 'stopped' | 'rules_changed'
}

export type DueNotification = NotificationKey & {
  kind: 'approval_needed' | 'decided' | 'stopped'
  subject_type: 'transfer' | 'approval_request'
  created_at: Date
  attempts: number
  email: string
  vault_name: string
  initiator: string
  /** What is asked for or was decided, such as `transfer` or `counterparty_create`. */
  action: string
  status: string
  amount: string | null
  decimals: number | null
  asset: string | null
  to_address: string | null
  /** Why it was halted or failed. */
  reason: string | null
}

/**
 * Takes a notification that is due, for as long as a lease: should the node die before it knows what became of the mail,
 * another one takes it when the lease has run out. The last attempt is for good.
 */
export async function claimNotification(db: Db, now: Date): Promise<DueNotification | undefined> {
  const { rows } = await sql<DueNotification>`
    with due as (
      select vault_id, subject_id, user_id, kind from notifications
      where next_attempt_at <= ${now} and kind <> 'rules_changed'
      order by next_attempt_at limit 1 for update skip locked
    ), claimed as (
      update notifications n set attempts = n.attempts + 1, next_attempt_at = ${endOfLease(now)}
      from due where (n.vault_id, n.subject_id, n.user_id, n.kind) = (due.vault_id, due.subject_id, due.user_id, due.kind)
      returning n.*
    )
    select c.vault_id, c.subject_id, c.user_id, c.kind, c.subject_type, c.created_at, c.attempts, u.email,
      v.name as vault_name, ${nameOfUser('i')} as initiator, coalesce(r.action, 'transfer') as action,
      coalesce(o.status, r.status) as status, o.amount, k.decimals, k.code as asset, t.to_address,
      coalesce(t.halt_reason, t.failure_reason, r.failure_reason) as reason
    from claimed c
    join users u on u.id = c.user_id
    join vaults v on v.id = c.vault_id
    left join operations o on c.subject_type = 'transfer' and o.vault_id = c.vault_id and o.id = c.subject_id
    left join transfers t on t.vault_id = o.vault_id and t.id = o.id
    left join tokens k on k.id = o.token_id
    left join approval_requests r on c.subject_type = 'approval_request' and r.vault_id = c.vault_id and r.id = c.subject_id
    left join users i on i.id = coalesce(o.initiator_id, r.initiator_id)`.execute(db)
  return rows[0]
}

export type DueAnnouncement = NotificationKey & {
  created_at: Date
  attempts: number
  email: string
  /** Names the mail that it is sent in, each time it is sent. */
  mail_id: string
  /** null in both: a change that belongs to no vault. */
  vault_code: string | null
  vault_name: string | null
  /** null: announced by a version that did not put changes into words. */
  content: string | null
}

/**
 * Takes what one person is to be told of one vault, or of the platform, all in one mail, oldest first; for as long as a
 * lease, as `claimNotification`. What was in one mail once stays in one mail, without any that came later: a mail server
 * may drop a repeated mail, and nothing new may be lost with it.
 */
export async function claimAnnouncements(db: Db, limit: number, now: Date): Promise<DueAnnouncement[]> {
  const { rows } = await sql<DueAnnouncement>`
    with reader as (
      select user_id, vault_id, mail_id from notifications where next_attempt_at <= ${now} and kind = 'rules_changed'
      order by next_attempt_at limit 1
    ), due as (
      select n.vault_id, n.subject_id, n.user_id, n.kind from reader r join notifications n using (user_id, vault_id)
      where n.next_attempt_at is not null and n.kind = 'rules_changed' and (
        (n.mail_id is null and r.mail_id is null) or (n.mail_id = r.mail_id and n.next_attempt_at <= ${now}))
      order by n.subject_id limit ${limit} for update of n skip locked
    ), claimed as (
      update notifications n set attempts = n.attempts + 1, next_attempt_at = ${endOfLease(now)},
        mail_id = coalesce(n.mail_id, (select min(d.subject_id) from due d))
      from due where (n.vault_id, n.subject_id, n.user_id, n.kind) = (due.vault_id, due.subject_id, due.user_id, due.kind)
      returning n.*
    )
    select c.vault_id, c.subject_id, c.user_id, c.kind, c.created_at, c.attempts, c.mail_id, u.email,
      v.code as vault_code, v.name as vault_name, a.content
    from claimed c
    join users u on u.id = c.user_id
    left join vaults v on v.id = c.vault_id
    left join announcements a on a.chain = c.vault_id and a.audit_record_id = c.subject_id
    order by c.subject_id`.execute(db)
  return rows
}

/** SQL for a row `n` of `notifications` that is being claimed. */
function endOfLease(now: Date) {
  const end = new Date(now.getTime() + notificationLeaseMilliseconds)
  return sql`case when n.attempts + 1 < ${notificationAttemptsMax} then ${end}::timestamptz end`
}

/** Ends a claim: the mail was sent, or null: there is no need to send it any more. */
export async function settleNotification(db: Db, key: NotificationKey, sentAt: Date | null): Promise<void> {
  await sql`update notifications set sent_at = ${sentAt}, next_attempt_at = null where ${isKey(key)}`.execute(db)
}

/** Ends a claim after a failure, unless it was the last attempt or somebody else has claimed it meanwhile. */
export async function retryNotification(
  db: Db,
  { attempts, ...key }: NotificationKey & { attempts: number },
  at: Date,
): Promise<void> {
  await sql`
    update notifications set next_attempt_at = ${at}
    where ${isKey(key)} and attempts = ${attempts} and attempts < ${notificationAttemptsMax} and sent_at is null`.execute(
    db,
  )
}

const isKey = ({ vault_id, subject_id, user_id, kind }: NotificationKey) =>
  sql`vault_id = ${vault_id} and subject_id = ${subject_id} and user_id = ${user_id} and kind = ${kind}`
