import { type RawBuilder, sql } from 'kysely'
import { administratorsOf, isEveryone } from '../../../access/memberships.ts'
import type { Trx } from '../../../db/client.ts'
import { formatMinute } from '../../../lib/period.ts'
import { type AuditEvent, insertAuditRecord, insertAuditRecords, platformChain } from '../audit/record.ts'

/** Changes made within this time are announced in one mail. */
const gatheringMilliseconds = 60_000

/** A change to the rules of a vault, to its approvers, or to settings that its security depends on. */
export type VaultChange = AuditEvent & { vaultId: string; words: ChangeInWords }

/** The people whom a change concerns besides the administrators: users, and all members of groups. */
type Audience = { userIds?: string[]; groupIds?: string[] }

/**
 * Writes an audit record of a change of a vault and announces it by mail, in the transaction of the change, so that
 * nobody can weaken a rule unnoticed. The audience must include the people concerned before the change as well as those
 * concerned after it. Groups stand for their members after the change; name a person who has left a group as a user.
 *
 * These mails cannot be turned off, and the actor gets them too, because their account may have been taken over.
 */
export async function announceVaultChange(
  trx: Trx,
  { words, ...event }: VaultChange,
  { userIds = [], groupIds = [] }: Audience = {},
): Promise<void> {
  const auditRecordId = await insertAuditRecord(trx, event)
  await announce(
    trx,
    { ...event, auditRecordId },
    words,
    sql`
      ${administratorsOf([event.vaultId])}
      union
      select m.user_id from policy_groups g
      join policy_group_memberships m on m.vault_id = g.vault_id and (m.group_id = g.id or ${isEveryone('g')})
      where g.vault_id = ${event.vaultId} and g.id = any(${groupIds}::text[])
      union
      select unnest(${userIds}::text[])`,
  )
}

/**
 * Writes audit records of a change of the platform, such as a change of a token, for the platform and for the vaults
 * that it concerns. It announces the change to the administrators of the platform and of these vaults.
 */
export async function announceRegistryChange(
  trx: Trx,
  { words, ...event }: Omit<AuditEvent, 'vaultId'> & { words: ChangeInWords },
  vaultIds: string[],
): Promise<void> {
  const auditRecordId = await insertAuditRecords(trx, event, vaultIds)
  await announce(
    trx,
    { ...event, vaultId: null, auditRecordId },
    words,
    sql`
      select u.id as user_id from users u where u.is_platform_admin
      union
      ${administratorsOf(vaultIds)}`,
  )
}

/** @param audience SQL that selects `user_id` */
async function announce(
  trx: Trx,
  { vaultId, actorId, auditRecordId, now }: Pick<AuditEvent, 'vaultId' | 'actorId' | 'now'> & { auditRecordId: string },
  words: ChangeInWords,
  audience: RawBuilder<unknown>,
): Promise<void> {
  const chain = vaultId ?? platformChain
  const nameOf = await nameSubjects(trx, null, [actorId])
  const content = describeChange(words, { actor: words.by ?? nameOf(actorId), now, auditRecordId })
  await trx
    .insertInto('announcements')
    .values({ chain, audit_record_id: auditRecordId, content, created_at: now })
    .execute()
  await sql`
    insert into notifications (vault_id, subject_id, subject_type, user_id, kind, created_at, next_attempt_at)
    select ${chain}, ${auditRecordId}, 'audit_record', u.id, 'rules_changed', ${now},
      ${new Date(now.getTime() + gatheringMilliseconds)}
    from (${audience}) as audience
    join users u on u.id = audience.user_id and ${isReachable}`.execute(trx)
}

/** The facts of an announcement: the event, and the values before and after. It must not hold a secret. */
export type ChangeInWords = {
  /** One sentence without the actor and the full stop: `The policy "Large" was updated`. */
  sentence: string
  before?: Record<string, unknown> | undefined
  after?: Record<string, unknown> | undefined
  /** The machine that made the change, when neither a user nor this service made it. */
  by?: string
}

const valueLengthMax = 300
/** The number of characters of a long value that are shown before the first difference. */
const contextLength = 100

/** Returns the text of one change in a mail: the change, the old and new values, the actor, the time and the audit record. */
export function describeChange(
  { sentence, before = {}, after = {} }: ChangeInWords,
  { actor, now, auditRecordId }: { actor: string; now: Date; auditRecordId: string },
): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const values = names.flatMap((name) => {
    if (!(name in after)) return isEmpty(before[name]) ? [] : [`- ${name} was: ${quote(before[name])}`]
    if (!(name in before)) return isEmpty(after[name]) ? [] : [`- ${name}: ${quote(after[name])}`]
    return [`- ${name}: from ${excerpt(before[name], after[name])} to ${excerpt(after[name], before[name])}`]
  })
  return [
    `${sentence}.`,
    ...values,
    `By: ${quote(actor)}`,
    `At: ${formatMinute(now)}`,
    `Audit record: ${auditRecordId}`,
  ].join('\n')
}

/** Returns a value as JSON. A long value is cut to the part around the first difference from the other value. */
function excerpt(value: unknown, other: unknown): string {
  const [text, otherText] = [JSON.stringify(value ?? null), JSON.stringify(other ?? null)]
  if (Math.max(text.length, otherText.length) <= valueLengthMax) return text
  let same = 0
  while (same < text.length && text[same] === otherText[same]) same += 1
  const begin = Math.max(0, Math.min(same, text.length) - contextLength)
  const end = begin + valueLengthMax
  return `${begin > 0 ? '…' : ''}${text.slice(begin, end)}${end < text.length ? '…' : ''}`
}

/** Returns a value as JSON on one line, so that a name cannot add lines to a mail. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value ?? null)
  return text.length > valueLengthMax ? `${text.slice(0, valueLengthMax)}…` : text
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}

/**
 * SQL: returns the display name of a row of `users`: `Ann (ann@example.org)`, `Payroll (service)`. Mails show the
 * e-mail address too, because people choose their own name but not their address.
 */
export function nameOfUser(user: string): RawBuilder<string> {
  const [name, email, kind, id] = ['name', 'email', 'kind', 'id'].map((column) => sql.ref(`${user}.${column}`))
  return sql<string>`coalesce(${name} || ' (' || coalesce(${email}, ${kind}) || ')', ${email}, ${id})`
}

/**
 * Finds the display names of users and of groups of the vault, such as `group Approvers`. The returned function returns
 * the id if there is no such user or group in the vault.
 */
export async function nameSubjects(
  trx: Trx,
  vaultId: string | null,
  ids: (string | null)[],
): Promise<(id: string | null) => string> {
  const { rows } = await sql<{ id: string; name: string }>`
    select u.id, ${nameOfUser('u')} as name from users u where u.id = any(${ids}::text[])
    union all
    select id, 'group ' || name from policy_groups where vault_id = ${vaultId} and id = any(${ids}::text[])`.execute(
    trx,
  )
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return (id) => (id === null ? 'Strongroom itself' : (names.get(id) ?? id))
}

/** SQL condition: the user `u` can get mail. */
export const isReachable = sql<boolean>`(u.email is not null and u.disabled_at is null)`
