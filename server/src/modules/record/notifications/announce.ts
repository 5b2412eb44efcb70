import { type RawBuilder, sql } from 'kysely'
import { administratorsOf } from '../../../access/memberships.ts'
import { isEveryone } from '../../../access/system-groups.ts'
import type { Trx } from '../../../db/client.ts'
import { type AuditEvent, insertAuditRecord, insertAuditRecords, platformChain } from '../audit/record.ts'
import { isReachable } from './audience.ts'
import { type ChangeInWords, describeChange } from './describe-change.ts'
import { nameSubjects } from './names.ts'

/** Changes that follow each other at this pace are told in one mail. */
const gatheringMilliseconds = 60_000

/** A change to what a vault allows, to who decides it, or to what it relies on. */
export type VaultChange = AuditEvent & { vaultId: string; words: ChangeInWords }

/** Whom a change concerns beside the administrators: people by name, and everybody in a group. */
export type Audience = { userIds?: string[]; groupIds?: string[] }

/**
 * Puts a change of a vault on the audit record and announces it, in the transaction of the change: nobody weakens a rule
 * and uses that unnoticed. The audience must hold whom the change concerned before it as well as whom it concerns from
 * now on; groups are expanded as they are now, so people who left one are named one by one.
 *
 * These mails cannot be switched off, and the actor gets them too: they guard against somebody who acts in the name of
 * another.
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
 * Puts a change of a token on the audit record of the platform and of the vaults that use the token, and announces it to
 * the platform administrators and to the administrators of these vaults.
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
