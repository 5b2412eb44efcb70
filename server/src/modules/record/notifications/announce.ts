import { type RawBuilder, sql } from 'kysely'
import { administratorsOf } from '../../../access/memberships.ts'
import { isEveryone } from '../../../access/system-groups.ts'
import type { Trx } from '../../../db/client.ts'
import { type AuditEvent, insertAuditRecord, insertAuditRecords, platformChain } from '../audit/record.ts'
import { isReachable } from './audience.ts'
import { type ChangeInWords, describeChange } from './describe-change.ts'
import { nameSubjects } from './names.ts'

/** Changes made within this time are announced in one mail. */
const gatheringMilliseconds = 60_000

/** A change to the rules of a vault, to the people who decide, or to the settings that its security depends on. */
export type VaultChange = AuditEvent & { vaultId: string; words: ChangeInWords }

/** The people whom a change concerns, apart from the administrators: users, and all members of groups. */
export type Audience = { userIds?: string[]; groupIds?: string[] }

/**
 * Writes an audit record of a change of a vault and announces it by mail, in the transaction of the change, so that nobody
 * can weaken a rule unnoticed. The audience must include the people concerned before the change as well as those
 * concerned after it. Groups stand for their members after the change; name a person who has left one as a user.
 *
 * Nobody can turn these mails off, and the actor gets them too: the account of the actor may have been taken over.
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
 * Writes audit records of a change of a token, for the platform and for the vaults that use the token, and announces it to
 * the administrators of the platform and of these vaults.
 */
export async function announceTokenChange(
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
  const content = describeChange(words, { actor: nameOf(actorId), now, auditRecordId })
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
