import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { badRequest, conflict, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { nameLengthMax, preferencesBytesMax } from '../../../lib/limits.ts'
import { audit } from '../../record/audit/record.ts'
import { type OwnProfileRow, ownProfileColumns, type ProfileRow, profileColumns } from './queries.ts'
import type { UpdateProfile } from './schema.ts'

/**
 * Returns the author for the audit record of a change without a signed-in actor: a first sign-in or a directory creates a person,
 * and an operator creates a platform administrator.
 */
const byService = (now: Date) => ({ vaultId: null, actorId: null, now })

/** Returns the person of an e-mail address, and creates them if necessary. Two concurrent calls get the same person. */
export async function ensureUser(trx: Trx, email: string, now: Date): Promise<ProfileRow> {
  const address = email.toLowerCase()
  const created = await trx
    .insertInto('users')
    .values({
      id: newId(now),
      email: address,
      name: address.split('@')[0]!.slice(0, nameLengthMax),
      created_at: now,
      updated_at: now,
    })
    .onConflict((other) => other.column('email').doNothing())
    .returning(profileColumns)
    .executeTakeFirst()
  if (created !== undefined) {
    await audit(trx, byService(now), 'user.created', { type: 'user', id: created.id }, { email: address })
    return created
  }
  return trx.selectFrom('users').select(profileColumns).where('email', '=', address).executeTakeFirstOrThrow()
}

/** Returns the person of an e-mail address, and creates them with the name that a directory sent. They can change the name. */
export async function createPersonOf(
  trx: Trx,
  { email, name }: { email: string; name: string | null },
  now: Date,
): Promise<{ userId: string; isNew: boolean }> {
  const existing = await trx.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst()
  if (existing !== undefined) return { userId: existing.id, isNew: false }
  const { id } = await ensureUser(trx, email, now)
  if (name !== null) await trx.updateTable('users').set({ name }).where('id', '=', id).execute()
  return { userId: id, isNew: true }
}

/** Makes the person of an e-mail address a platform administrator. For a platform administrator it changes and records nothing. */
export async function addPlatformAdmin(trx: Trx, email: string, now: Date): Promise<{ userId: string }> {
  const { id } = await ensureUser(trx, email, now)
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set({ is_platform_admin: true, updated_at: now })
    .where('id', '=', id)
    .where('is_platform_admin', '=', false)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) {
    await audit(trx, byService(now), 'platform_admin.added', { type: 'user', id }, { email: email.toLowerCase() })
  }
  return { userId: id }
}

/** Creates the user of a service token; no person can sign in as it. */
export async function insertServiceUser(trx: Trx, name: string, now: Date): Promise<string> {
  const userId = newId(now)
  await trx
    .insertInto('users')
    .values({ id: userId, kind: 'service', name, created_at: now, updated_at: now })
    .execute()
  return userId
}

/** Disables a user, which takes effect with their next request. */
export async function disableUser(trx: Trx, userId: string, now: Date): Promise<void> {
  await trx
    .updateTable('users')
    .set({ disabled_at: now, updated_at: now })
    .where('id', '=', userId)
    .where('disabled_at', 'is', null)
    .execute()
}

/**
 * Changes the fields of the body; null clears a field.
 * @throws 409 when the username is taken, regardless of case
 */
export async function updateProfile(
  trx: Trx,
  userId: string,
  { name, username, image, color, emoji, notifications }: UpdateProfile,
  now: Date,
): Promise<OwnProfileRow> {
  const row = await trx
    .updateTable('users')
    // Kysely leaves undefined fields out of the statement.
    .set({
      name,
      username,
      image,
      color,
      emoji,
      notify_approvals: notifications?.approvals,
      notify_decisions: notifications?.decisions,
      updated_at: now,
    })
    .where('id', '=', userId)
    .returning(ownProfileColumns)
    .executeTakeFirst()
    .catch(onViolation('users_username', () => conflict('already_exists', 'This username is taken')))
  if (row === undefined) throw notFound('User')
  return row
}

/**
 * Replaces the data that a user interface stores for the user. The service does not read the data, so that it needs no audit record.
 * @throws 400 when it is too large
 */
export async function replacePreferences(
  trx: Trx,
  userId: string,
  preferences: Record<string, unknown>,
  now: Date,
): Promise<void> {
  const text = JSON.stringify(preferences)
  if (Buffer.byteLength(text) > preferencesBytesMax) {
    throw badRequest('body', `must not be larger than ${preferencesBytesMax} bytes of JSON`)
  }
  await trx
    .insertInto('user_preferences')
    .values({ user_id: userId, preferences: text, updated_at: now })
    .onConflict((other) => other.column('user_id').doUpdateSet({ preferences: text, updated_at: now }))
    .execute()
}
