import { sql } from 'kysely'
import type { Db } from '../../db/client.ts'

export type NotificationKey = {
  vault_id: string
  subject_id: string
  user_id: string
  kind: 'approval_needed' | 'decided' | 'rules_changed'
}

/** A name can be chosen, an e-mail address cannot: mails show both. */
const whoIs = (user: string) => sql`coalesce(${sql.ref(`${user}.name`)} || ' (' || ${sql.ref(`${user}.email`)} || ')',
  ${sql.ref(`${user}.name`)}, ${sql.ref(`${user}.email`)}, ${sql.ref(`${user}.id`)})`

export type DueNotification = NotificationKey & {
  kind: 'approval_needed' | 'decided'
  subject_type: 'transfer' | 'approval_request'
  created_at: Date
  attempts: number
  email: string
  vault_code: string
  vault_name: string
  initiator: string
  /** What is asked for or was decided, such as `transfer` or `counterparty_create`. */
  action: string
  status: string
  amount: string | null
  decimals: number | null
  asset: string | null
  to_address: string | null
}

/**
 * Takes notifications that are due. Each is taken by one node only, and its next attempt is cleared by that: should
 * the node die before it knows what became of the mail, the mail is not sent again.
 */
export async function claimNotifications(db: Db, limit: number, now: Date): Promise<DueNotification[]> {
  const { rows } = await sql<DueNotification>`
    with due as (
      select vault_id, subject_id, user_id, kind from notifications
      where next_attempt_at <= ${now} and kind <> 'rules_changed'
      order by next_attempt_at limit ${limit} for update skip locked
    ), claimed as (
      update notifications n set next_attempt_at = null, attempts = n.attempts + 1 
      from due where (n.vault_id, n.subject_id, n.user_id, n.kind) = (due.vault_id, due.subject_id, due.user_id, due.kind)
      returning n.*
    )
    select c.vault_id, c.subject_id, c.user_id, c.kind, c.subject_type, c.created_at, c.attempts, u.email, v.code as vault_code,
      v.name as vault_name, ${whoIs('i')} as initiator, coalesce(r.action, 'transfer') as action,
      coalesce(o.status, r.status) as status, o.amount, k.decimals, k.code as asset, t.to_address
    from claimed c
    join users u on u.id = c.user_id
    join vaults v on v.id = c.vault_id
    left join operations o on c.subject_type = 'transfer' and o.vault_id = c.vault_id and o.id = c.subject_id
    left join transfers t on t.vault_id = o.vault_id and t.id = o.id
    left join tokens k on k.id = o.token_id
    left join approval_requests r on c.subject_type = 'approval_request' and r.vault_id = c.vault_id and r.id = c.subject_id
    left join users i on i.id = coalesce(o.initiator_id, r.initiator_id)`.execute(db)
  return rows
}

export type DueRuleChange = NotificationKey & {
  created_at: Date
  attempts: number
  email: string
  vault_name: string
  actor: string
  /** As in the audit record: `policy.updated`, `membership.added`. */
  action: string
  /** The name of what changed, or its code where the name is gone. */
  target: string | null
  /** Whose membership it was. */
  person: string | null
  /** Into which groups somebody was invited, or a service put. */
  groups: string[] | null
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/**
 * Takes what one person is to be told of one vault's rules, all in one mail, oldest first; as `claimNotifications`,
 * each is taken once.
 */
export async function claimRuleChanges(db: Db, limit: number, now: Date): Promise<DueRuleChange[]> {
  const { rows } = await sql<DueRuleChange>`
    with reader as (
      select user_id, vault_id from notifications where next_attempt_at <= ${now} and kind = 'rules_changed'
      order by next_attempt_at limit 1
    ), due as (
      select n.vault_id, n.subject_id, n.user_id, n.kind from reader join notifications n using (user_id, vault_id)
      where n.next_attempt_at is not null and n.kind = 'rules_changed'
      order by n.subject_id limit ${limit} for update of n skip locked
    ), claimed as (
      update notifications n set next_attempt_at = null, attempts = n.attempts + 1
      from due where (n.vault_id, n.subject_id, n.user_id, n.kind) = (due.vault_id, due.subject_id, due.user_id, due.kind)
      returning n.*
    )
    select c.vault_id, c.subject_id, c.user_id, c.kind, c.created_at, c.attempts, u.email, v.name as vault_name,
      ${whoIs('i')} as actor, a.action, d.details -> 'before' as before, d.details -> 'after' as after,
      coalesce(p.name, g.name, d.details -> 'before' ->> 'name', d.details ->> 'email', d.details ->> 'name') as target,
      (select ${whoIs('m')} from users m
       where a.target_type = 'policy_group' and m.id = d.details ->> 'userId') as person,
      (select array_agg(e.name order by e.name) from policy_groups e
       where e.vault_id = c.vault_id and d.details -> 'groupIds' ? e.id) as groups
    from claimed c
    join users u on u.id = c.user_id
    join vaults v on v.id = c.vault_id
    join audit_records a on a.chain = c.vault_id and a.id = c.subject_id
    cross join lateral (select a.content::jsonb -> 'details' as details) as d
    join users i on i.id = a.actor_id
    left join policies p on a.target_type = 'policy' and p.vault_id = c.vault_id and p.id = a.target_id
    left join policy_groups g on a.target_type = 'policy_group' and g.vault_id = c.vault_id and g.id = a.target_id
    order by c.subject_id`.execute(db)
  return rows
}

export async function markSent(db: Db, key: NotificationKey, now: Date): Promise<void> {
  await sql`update notifications set sent_at = ${now} where ${isKey(key)}`.execute(db)
}

/** After a refusal by the mail server: it certainly was not sent, so it may be tried again. */
export async function retryNotification(db: Db, key: NotificationKey, at: Date): Promise<void> {
  await sql`update notifications set next_attempt_at = ${at} where ${isKey(key)} and sent_at is null`.execute(db)
}

const isKey = ({ vault_id, subject_id, user_id, kind }: NotificationKey) =>
  sql`vault_id = ${vault_id} and subject_id = ${subject_id} and user_id = ${user_id} and kind = ${kind}`
