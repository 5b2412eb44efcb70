import { type RawBuilder, sql } from 'kysely'
import { administratorsOf } from '../../../access/memberships.ts'
import { prepared, type Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import { isReachable } from './announce.ts'
import { alarmPauseSeconds, type NotificationKey } from './queries.ts'

export type Subject = {
  vaultId: string
  subjectType: 'transfer' | 'approval_request' | 'payout'
  subjectId: string
  initiatorId: string
}

type Addressed = { vaultId: string; subjectType: string; subjectId: string }
type Audience = { audience: RawBuilder<unknown>; repeated?: RawBuilder<unknown> }

/** Queues a mail of a kind about a subject to each user `u` of `audience`, a list of tables with a condition. */
async function enqueue(
  trx: Trx,
  kind: NotificationKey['kind'],
  subject: Addressed,
  now: Date,
  audience: Audience,
): Promise<void> {
  wake(trx, 'send-notifications')
  await sql`${prepared} ${mails(kind, subject, now, audience)}`.execute(trx)
}

/** SQL: the statement of `enqueue`. */
const mails = (
  kind: NotificationKey['kind'],
  { vaultId, subjectType, subjectId }: Addressed,
  now: Date,
  { audience, repeated = sql`on conflict do nothing` }: Audience,
) => sql`
  insert into notifications (vault_id, subject_id, subject_type, user_id, kind, created_at, next_attempt_at)
  select ${vaultId}, ${subjectId}, ${subjectType}, u.id, ${kind}, ${now}, ${now} from ${audience} ${repeated}`

/**
 * SQL: queues mails that ask the voters of a subject for their vote, as a part of the statement that starts the vote.
 * The initiator and users who turned these mails off get no mail.
 */
export function mailsToVoters(
  trx: Trx,
  subject: Subject,
  voters: { userId: string }[],
  now: Date,
): RawBuilder<unknown> {
  wake(trx, 'send-notifications')
  const voterIds = voters.map(({ userId }) => userId)
  const audience = sql`users u
    where u.id = any(${voterIds}) and u.id <> ${subject.initiatorId} and ${isReachable} and u.notify_approvals`
  return mails('approval_needed', subject, now, { audience })
}

/** SQL: queues a mail to the initiator about the decision, as a part of the statement that decides. */
export function mailToInitiator(trx: Trx, subject: Subject, now: Date): RawBuilder<unknown> {
  wake(trx, 'send-notifications')
  const audience = sql`users u where u.id = ${subject.initiatorId} and ${isReachable} and u.notify_decisions`
  return mails('decided', subject, now, { audience })
}

/** Queues one mail to the initiator about a transfer that waits for longer than usual. This mail cannot be turned off. */
export async function notifyOfDelay(trx: Trx, subject: Subject, now: Date): Promise<void> {
  const audience = sql`users u where u.id = ${subject.initiatorId} and ${isReachable}`
  await enqueue(trx, 'stuck', subject, now, { audience })
}

/**
 * Queues mails to the administrators of a vault, and to the initiator if present, about a transfer or request that the service
 * stopped. These mails cannot be turned off. Repeated stops of one subject are mailed every five minutes at most.
 */
export async function notifyOfStop(
  trx: Trx,
  subject: Omit<Subject, 'initiatorId'>,
  now: Date,
  initiatorId: string | null = null,
): Promise<void> {
  const audience = sql`users u
    where ${isReachable} and (u.id = ${initiatorId} or u.id in (${administratorsOf([subject.vaultId])}))`
  await enqueue(trx, 'stopped', subject, now, { audience, repeated: againAfterPause })
}

/** Queues mails to the administrators of a vault about a deposit that the chain took back. These mails cannot be turned off. */
export async function notifyOfOrphan(
  trx: Trx,
  { vaultId, depositId: subjectId }: { vaultId: string; depositId: string },
  now: Date,
): Promise<void> {
  const audience = sql`users u where ${isReachable} and u.id in (${administratorsOf([vaultId])})`
  const subject = { vaultId, subjectType: 'deposit', subjectId }
  await enqueue(trx, 'orphaned', subject, now, { audience, repeated: againAfterPause })
}

/**
 * Queues mails to the initiators of subjects that need more votes than people can still cast. These mails cannot be
 * turned off. There is at most one every five minutes about a subject.
 */
export async function notifyOfLostQuorum(trx: Trx, subjects: Subject[], now: Date): Promise<void> {
  if (subjects.length === 0) return
  wake(trx, 'send-notifications')
  const column = (name: keyof Subject) => sql`${subjects.map((subject) => subject[name])}::text[]`
  await sql`
    insert into notifications (vault_id, subject_id, subject_type, user_id, kind, created_at, next_attempt_at)
    select s.vault_id, s.subject_id, s.subject_type, u.id, 'quorum_lost', ${now}, ${now}
    from unnest(${column('vaultId')}, ${column('subjectId')}, ${column('subjectType')}, ${column('initiatorId')})
      as s(vault_id, subject_id, subject_type, initiator_id)
    join users u on u.id = s.initiator_id and ${isReachable}
    ${againAfterPause}`.execute(trx)
}

/** Removes the waiting mails of a user who may no longer read their content. */
export async function dropNotificationsOf(trx: Trx, userId: string): Promise<void> {
  await sql`update notifications set next_attempt_at = null where user_id = ${userId} and next_attempt_at is not null`.execute(
    trx,
  )
}

/** SQL: queues a repeated mail about the same subject only after a pause. */
const againAfterPause = sql`
  on conflict (vault_id, subject_id, user_id, kind) do update set created_at = excluded.created_at, attempts = 0,
    next_attempt_at = greatest(excluded.next_attempt_at, notifications.sent_at + ${sql.lit(alarmPauseSeconds)} * interval '1 second')`
