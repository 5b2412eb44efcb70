import { sql } from 'kysely'
import { isHeldEverywhere, membershipOf } from '../../../access/memberships.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { newestFirst } from '../../../db/newest-first.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { notFound } from '../../../lib/errors.ts'
import { unexpiredLinksPerEmailMax } from '../../../lib/limits.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { type ProfileRow, profileColumns } from '../users/queries.ts'
import type { SignInMethod } from './sessions.ts'

/** Returns a user with the vaults of which they are a member. */
export async function getPerson(db: Db | Trx, userId: string) {
  const row = await db
    .selectFrom('users')
    .select([...profileColumns, 'users.is_platform_admin'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  return { row, vaults: await listVaultsOf(db, userId) }
}

async function listVaultsOf(db: Db | Trx, userId: string) {
  const { rows } = await sql<{ code: string; name: string; logoUri: string | null; isAdmin: boolean }>`
    select v.code, v.name, v.logo_uri as "logoUri", own.is_admin as "isAdmin"
    from (select distinct vault_id from policy_group_memberships where user_id = ${userId}) m
    join vaults v on v.id = m.vault_id
    cross join lateral ${membershipOf(sql`v.id`, sql`${userId}`)} own
    order by v.code`.execute(db)
  return rows
}

export type SessionRow = Awaited<ReturnType<typeof listSessions>>[number]

const providerName = sql<string | null>`(select p.name from identity_providers p where p.id = sessions.provider_id)`

/** Returns the unexpired sessions of a user, newest first; one row more than `limit`. */
export function listSessions(db: Db | Trx, userId: string, page: Paging, now: Date) {
  const query = db
    .selectFrom('sessions')
    .select(['id', 'user_agent', 'ip', 'created_at', 'last_seen_at', 'expires_at'])
    .select(sql<SignInMethod | null>`method`.as('method'))
    .select(['provider_id', 'auth_time', providerName.as('provider_name')])
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .where('ends_at', '>', now)
  return newestFirst(query, page).execute()
}

/** @throws 404 when no user has the id */
export async function listSessionsOf(db: Db | Trx, userId: string, page: Paging, now: Date): Promise<SessionRow[]> {
  if ((await findUser(db, 'id', userId)) === null) throw notFound('User')
  return listSessions(db, userId, page, now)
}

/** Returns a sign-in link that still works. Reading it does not redeem it. */
export async function findMagicLink(
  db: Db | Trx,
  token: string,
  now: Date,
): Promise<{ email: string; asksForCode: boolean } | null> {
  const row = await db
    .selectFrom('magic_links')
    .select(['email', 'code_hash'])
    .where('token_hash', '=', sha256(token))
    .where('expires_at', '>', now)
    // The link of a break-glass person works only in one browser, without a code.
    .where('break_glass', '=', false)
    .executeTakeFirst()
  return row === undefined ? null : { email: row.email, asksForCode: row.code_hash !== null }
}

/**
 * Returns true if an e-mail address has the maximum of working mailed links. Links of the mail `mailId` do not count.
 */
export async function hasEnoughLiveLinks(trx: Trx, email: string, mailId: string, now: Date): Promise<boolean> {
  const mails = await trx
    .selectFrom('magic_links')
    .select('mail_id')
    .distinct()
    .where('email', '=', email)
    .where('expires_at', '>', now)
    .where('mail_id', '<>', mailId)
    .limit(unexpiredLinksPerEmailMax)
    .execute()
  return mails.length === unexpiredLinksPerEmailMax
}

/** Returns the session that a mail reports, if it has not ended. */
export async function findMailedSession(db: Db, id: string, now: Date) {
  const row = await db
    .selectFrom('sessions')
    .select(['user_agent', 'ip', 'created_at'])
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .where('ends_at', '>', now)
    .executeTakeFirst()
  return row ?? null
}

/**
 * Returns the user of an e-mail address, which is stored and compared in lower case. A user who was disabled, or who is
 * held in all of their vaults, may not sign in.
 */
export function findUserByEmail(db: Db | Trx, email: string) {
  return findUser(db, 'email', email.toLowerCase())
}

/**
 * Returns true if a user may sign in, and keeps it so until the transaction ends. The state is read after the lock, because
 * somebody may have disabled or held the user while this waited.
 */
export async function lockToSignIn(trx: Trx, userId: string): Promise<boolean> {
  await sql`select from users where id = ${userId} for key share`.execute(trx)
  return (await findUser(trx, 'id', userId))?.may_sign_in === true
}

export async function findUser(
  db: Db | Trx,
  by: 'email' | 'id',
  value: string,
): Promise<(ProfileRow & { may_sign_in: boolean }) | null> {
  const row = await db
    .selectFrom('users')
    .select([
      ...profileColumns,
      sql<boolean>`(users.disabled_at is null and not ${isHeldEverywhere('users')})`.as('may_sign_in'),
    ])
    .where(by, '=', value)
    .executeTakeFirst()
  return row ?? null
}
