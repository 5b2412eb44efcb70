import { sql } from 'kysely'
import type { ByCaller } from '../../../access/caller.ts'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { conflict, notFound } from '../../../lib/errors.ts'
import { breakGlassPeopleMax } from '../../../lib/limits.ts'
import { announceRegistryChange, quote } from '../../record/notifications/announce.ts'
import { holdPlatformChange } from '../../registry/platform-changes/actions.ts'
import type { PlatformChangeRow } from '../../registry/platform-changes/queries.ts'
import { listVaultIdsOf } from '../../rules/policy-groups/memberships.ts'
import { assertAdministratorsGetIn } from './locked-out.ts'
import type { BreakGlassPerson } from './schema.ts'

type PersonRow = { id: string; user: MemberProfile; has_passkey: boolean; created_at: Date }

/** Returns the break-glass people, the last named first, one row more than the limit. */
export async function listBreakGlassPeople(db: Db | Trx, { after, limit }: Paging): Promise<PersonRow[]> {
  const { rows } = await sql<PersonRow>`
    select b.user_id as id, ${profileOfUser(sql`b.user_id`)} as user, b.named_at as created_at,
      exists (select from passkeys k where k.user_id = b.user_id) as has_passkey
    from break_glass_people b
    where ${after === null ? sql`true` : sql`(b.named_at, b.user_id) < (${after.createdAt}, ${after.id})`}
    order by b.named_at desc, b.user_id desc limit ${limit + 1}`.execute(db)
  return rows
}

export const toBreakGlassPerson = (row: PersonRow): BreakGlassPerson => ({
  userId: row.id,
  user: row.user,
  hasPasskey: row.has_passkey,
  namedAt: row.created_at.toISOString(),
})

/**
 * Asks another platform administrator to name a break-glass person.
 * @throws 404; 409 for a disabled person, a person without a passkey, a break-glass person, and when there are five already
 */
export async function askToName(trx: Trx, userId: string, by: ByCaller): Promise<PlatformChangeRow> {
  await findNameable(trx, userId)
  return holdPlatformChange(trx, { action: 'break_glass_name', targetId: userId, payload: {} }, by)
}

/** Names a break-glass person after another platform administrator confirmed it. @throws as `askToName` */
export async function nameBreakGlassPerson(trx: Trx, userId: string, by: ByCaller): Promise<void> {
  await sql`lock table break_glass_people in share row exclusive mode`.execute(trx)
  const email = await findNameable(trx, userId)
  await trx.insertInto('break_glass_people').values({ user_id: userId, named_at: by.now }).execute()
  await announcePerson(trx, 'named', { userId, email }, by)
}

/**
 * Asks another platform administrator to confirm that a person is no longer a break-glass person.
 * @throws 404, 409 when platform administrators would be locked out
 */
export async function askToRemove(trx: Trx, userId: string, by: ByCaller): Promise<PlatformChangeRow> {
  await findNamed(trx, userId)
  await assertAdministratorsGetIn(trx, { removing: userId, by })
  return holdPlatformChange(trx, { action: 'break_glass_remove', targetId: userId, payload: {} }, by)
}

/** Ends that a person is a break-glass person. @throws as `askToRemove` */
export async function removeBreakGlassPerson(trx: Trx, userId: string, by: ByCaller): Promise<void> {
  await assertAdministratorsGetIn(trx, { removing: userId, by })
  const email = await findNamed(trx, userId)
  await trx.deleteFrom('break_glass_people').where('user_id', '=', userId).execute()
  await trx.deleteFrom('magic_links').where('email', '=', email).where('break_glass', '=', true).execute()
  await announcePerson(trx, 'removed', { userId, email }, by)
}

type Use = { userId: string; email: string; ip: string; userAgent: string | null; until: Date }

/** Announces the sign-in of a break-glass person to all platform administrators and to the administrators of the person's vaults. */
export async function announceUse(trx: Trx, { userId, email, ip, userAgent, until }: Use, now: Date): Promise<void> {
  const details = { email, ip, userAgent, until: until.toISOString() }
  const sentence = `${quote(email)} signed in without their identity provider, by passkey and mailed link`
  await announceRegistryChange(
    trx,
    {
      actorId: userId,
      action: 'break_glass.used',
      targetType: 'user',
      targetId: userId,
      details,
      now,
      words: { sentence, after: details },
    },
    await listVaultIdsOf(trx, userId),
  )
}

type Person = { userId: string; email: string }

async function announcePerson(trx: Trx, verb: 'named' | 'removed', { userId, email }: Person, by: ByCaller) {
  const sentence =
    verb === 'named'
      ? `${quote(email)} became a break-glass person`
      : `${quote(email)} is no longer a break-glass person`
  const details = { email }
  const target = { targetType: 'user', targetId: userId }
  await announceRegistryChange(
    trx,
    { actorId: by.caller.userId, action: `break_glass.${verb}`, ...target, details, now: by.now, words: { sentence } },
    await listVaultIdsOf(trx, userId),
  )
}

/** Returns the e-mail address of a person who can become a break-glass person. @throws as `askToName` */
async function findNameable(trx: Trx, userId: string): Promise<string> {
  const { rows } = await sql<{ email: string | null; isDisabled: boolean; hasPasskey: boolean; isNamed: boolean }>`
    select u.email, u.disabled_at is not null as "isDisabled",
      exists (select from passkeys k where k.user_id = u.id) as "hasPasskey",
      exists (select from break_glass_people b where b.user_id = u.id) as "isNamed"
    from users u where u.id = ${userId}`.execute(trx)
  const [user] = rows
  if (user === undefined || user.email === null) throw notFound('User')
  if (user.isDisabled) throw conflict('wrong_state', 'The user is disabled')
  if (user.isNamed) throw conflict('already_exists', 'The user is already a break-glass person')
  if (!user.hasPasskey) throw conflict('wrong_state', 'The user has no passkey, which a break-glass person needs')
  const { rows: counted } = await sql<{ n: number }>`select count(*)::int as n from break_glass_people`.execute(trx)
  if (counted[0]!.n >= breakGlassPeopleMax)
    throw conflict('limit_reached', `There are at most ${breakGlassPeopleMax} break-glass people`)
  return user.email
}

async function findNamed(trx: Trx, userId: string): Promise<string> {
  const row = await trx
    .selectFrom('break_glass_people as b')
    .innerJoin('users as u', 'u.id', 'b.user_id')
    .select('u.email')
    .where('b.user_id', '=', userId)
    .executeTakeFirst()
  if (row === undefined || row.email === null) throw notFound('Break-glass person')
  return row.email
}
