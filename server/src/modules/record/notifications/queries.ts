import { sql } from 'kysely'
import { claimRows } from '../../../db/claim.ts'
import { type Db, prepared } from '../../../db/client.ts'
import { mailAttemptsMax } from '../../../lib/limits.ts'
import type { Notification } from '../../../mail/messages.ts'
import { mailLease } from '../../../mail/queue.ts'
import { platformChain } from '../audit/record.ts'
import { nameOfUser } from './announce.ts'

export type NotificationKey = {
  /** The id of the vault; `platform` for a change that belongs to no vault. */
  vault_id: string
  subject_id: string
  user_id: string
  kind: Notification['kind'] | 'rules_changed'
}

export type DueNotification = NotificationKey &
  Notification & {
    subject_type: 'transfer' | 'approval_request' | 'payout' | 'deposit'
    created_at: Date
    attempts: number
    email: string
    vault_code: string
  }

const key = ['vault_id', 'subject_id', 'user_id', 'kind']

/**
 * Claims up to `limit` notifications that are due, oldest first. If the node ends before it knows that a mail was sent, another
 * node sends the mail again.
 */
export async function claimNotifications(db: Db, limit: number, now: Date): Promise<DueNotification[]> {
  const { rows } = await sql<DueNotification>`${prepared}
    with ${claimRows({
      table: 'notifications',
      key,
      where: sql`n.next_attempt_at <= ${now} and n.kind <> 'rules_changed'`,
      orderBy: sql`n.next_attempt_at`,
      limit,
      set: mailLease(now),
    })}
    select c.vault_id, c.subject_id, c.user_id, c.kind, c.subject_type, c.created_at, c.attempts, u.email,
      v.code as vault_code, v.name as vault_name, ${nameOfUser('i')} as initiator, coalesce(r.action, c.subject_type) as action,
      coalesce(o.status, r.status, p.status) as status, o.amount, k.decimals, k.code as asset, t.to_address, p.rows_count,
      coalesce(t.halt_reason, t.failure_reason, r.failure_reason, p.halt_reason) as reason, a.address as own_address,
      (x.amount - x.taken)::text as exposed
    from claimed c
    join users u on u.id = c.user_id
    join vaults v on v.id = c.vault_id
    left join operations o on c.subject_type in ('transfer', 'deposit') and o.vault_id = c.vault_id and o.id = c.subject_id
    left join transfers t on t.vault_id = o.vault_id and t.id = o.id
    left join tokens k on k.id = o.token_id
    left join approval_requests r on c.subject_type = 'approval_request' and r.vault_id = c.vault_id and r.id = c.subject_id
    left join addresses a on c.subject_type = 'deposit' and a.vault_id = o.vault_id and a.id = o.address_id
    left join deposit_orphans x on c.subject_type = 'deposit' and x.vault_id = c.vault_id and x.deposit_id = c.subject_id
      and x.returned_at is null
    left join payouts p on c.subject_type = 'payout' and p.vault_id = c.vault_id and p.id = c.subject_id
    left join users i on i.id = coalesce(o.initiator_id, r.initiator_id, p.initiator_id)
    order by c.created_at, c.subject_id, c.user_id`.execute(db)
  return rows
}

export type DueAnnouncement = NotificationKey & {
  created_at: Date
  attempts: number
  email: string
  /** The id of the mail. It stays the same when the mail is sent again. */
  mail_id: string
  /** The code and name of the vault; null for a change that belongs to no vault. */
  vault_code: string | null
  vault_name: string | null
  /** Null for a change that an earlier version announced without a stored text. */
  content: string | null
}

/**
 * Claims the changes of one vault, or of the platform, that one mail announces to one person, oldest first. Changes that
 * were sent in one mail are sent again in one mail, without later changes: a mail server may drop the repeated mail, and a new
 * change must not be lost with it.
 */
export async function claimAnnouncements(db: Db, limit: number, now: Date): Promise<DueAnnouncement[]> {
  const { rows } = await sql<DueAnnouncement>`${prepared}
    with reader as (
      select user_id, vault_id, mail_id from notifications where next_attempt_at <= ${now} and kind = 'rules_changed'
      order by next_attempt_at limit 1
    ), ${claimRows({
      table: 'notifications',
      key,
      where: sql`n.next_attempt_at is not null and n.kind = 'rules_changed' and exists (
        select from reader r where (r.user_id, r.vault_id) = (n.user_id, n.vault_id) and (
          (n.mail_id is null and r.mail_id is null) or (n.mail_id = r.mail_id and n.next_attempt_at <= ${now})))`,
      orderBy: sql`n.subject_id`,
      limit,
      set: sql`${mailLease(now)}, mail_id = coalesce(n.mail_id, (select min(d.subject_id) from due d))`,
    })}
    select c.vault_id, c.subject_id, c.user_id, c.kind, c.created_at, c.attempts, c.mail_id, u.email,
      v.code as vault_code, v.name as vault_name, a.content
    from claimed c
    join users u on u.id = c.user_id
    left join vaults v on v.id = c.vault_id
    left join announcements a on a.chain = c.vault_id and a.audit_record_id = c.subject_id
    order by c.subject_id`.execute(db)
  return rows
}

/** Returns a change as it was announced to a user, who may have left the vault since; null when it was not announced to them. */
export async function findAnnouncedChange(
  db: Db,
  { vaultCode, auditRecordId, userId }: { vaultCode: string | null; auditRecordId: string; userId: string },
): Promise<{ content: string | null; vault_name: string | null } | null> {
  const { rows } = await sql<{ content: string | null; vault_name: string | null }>`
    select a.content, v.name as vault_name
    from notifications n
    left join vaults v on v.id = n.vault_id
    left join announcements a on a.chain = n.vault_id and a.audit_record_id = n.subject_id
    where n.vault_id = ${vaultCode === null ? platformChain : sql`(select id from vaults where code = ${vaultCode})`}
      and n.subject_id = ${auditRecordId} and n.user_id = ${userId} and n.kind = 'rules_changed'`.execute(db)
  return rows[0] ?? null
}

/** The shortest time between two mails about the same subject. */
export const alarmPauseSeconds = 300

/**
 * Ends a claim, unless the mail was queued again since: then the repeat stays due, after the pause. `sentAt` is null if the mail was
 * not sent and is no longer needed.
 */
export async function settleNotification(
  db: Db,
  notification: NotificationKey & { created_at: Date; attempts: number },
  sentAt: Date | null,
): Promise<void> {
  const { created_at: queuedAt, attempts } = notification
  await sql`${prepared}
    update notifications set sent_at = ${sentAt}, next_attempt_at = case
      when next_attempt_at is null or (created_at = ${queuedAt} and attempts >= ${attempts}) then null
      else greatest(next_attempt_at, ${sentAt}::timestamptz + ${sql.lit(alarmPauseSeconds)} * interval '1 second') end
    where ${hasKey(notification)}`.execute(db)
}

/** Ends a claim whose attempt failed, unless it was the last attempt or another node has claimed the notification since. */
export async function retryNotification(
  db: Db,
  notification: NotificationKey & { attempts: number },
  at: Date,
): Promise<void> {
  await sql`
    update notifications set next_attempt_at = ${at}
    where ${hasKey(notification)} and attempts = ${notification.attempts} and attempts < ${mailAttemptsMax} and sent_at is null`.execute(
    db,
  )
}

const hasKey = ({ vault_id, subject_id, user_id, kind }: NotificationKey) =>
  sql`vault_id = ${vault_id} and subject_id = ${subject_id} and user_id = ${user_id} and kind = ${kind}`
