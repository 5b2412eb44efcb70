import { sql } from 'kysely'
import type { ByCaller } from '../../../access/caller.ts'
import { isAdministrators } from '../../../access/memberships.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { conflict, forbidden, notFound } from '../../../lib/errors.ts'
import { announceRegistryChange, announceVaultChange, quote } from '../../record/notifications/announce.ts'
import { dropNotificationsOf } from '../../record/notifications/notification-rows.ts'
import { holdPlatformChange } from '../../registry/platform-changes/actions.ts'
import type { PlatformChangeRow } from '../../registry/platform-changes/queries.ts'
import { listVaultIdsOf } from '../../rules/policy-groups/memberships.ts'
import { listWithoutQuorum, warnOfLostQuorum } from '../../rules/votes/lost-quorum.ts'
import { deleteLinksOf, endSessionsOf } from '../sign-in/sessions.ts'
import { toPlatformUser } from '../users/present.ts'
import { findPlatformUser, isRevokedService, type PlatformUserRow } from '../users/queries.ts'
import type { Offboarding, PlatformUser } from '../users/schema.ts'

export type Offboard = {
  userId: string
  reason: string
  /** Null for a directory, and for an operator at the command line, whom `operator` names. */
  actorId: string | null
  operator?: string
  /** The name of the directory that disables or enables the user. */
  directory?: string
  now: Date
}

/**
 * Disables a user. Sessions, service token, votes and mails end with the next request, on every node. Memberships stay,
 * so that `enable` restores them.
 * @throws 403 for oneself, 404, 409 for a user who is already disabled and for the last platform administrator
 */
export async function disable(trx: Trx, by: Offboard): Promise<Offboarding> {
  const { userId, actorId, now } = by
  if (actorId === userId) throw forbidden('other_person_required', 'Another platform administrator must disable you')
  const administrators = await lockPlatformAdministrators(trx, actorId)
  const user = await lockUser(trx, userId)
  if (user.disabled_at !== null) {
    if (by.directory !== undefined || !(await dropStop(trx, userId)))
      throw conflict('wrong_state', 'The user is already disabled')
    // A directory disabled the user. From now on it cannot enable them.
    await announce(trx, 'disabled', user, by)
    return getOffboarding(trx, userId)
  }
  if (user.is_platform_admin && administrators.every((id) => id === userId)) {
    throw conflict('last_administrator', 'The last platform administrator cannot be disabled')
  }
  await setDisabled(trx, userId, now, now)
  if (by.directory === undefined) await dropStop(trx, userId)
  await endSessionsOf(trx, userId, 'disabled', now)
  if (user.email !== null) await deleteLinksOf(trx, user.email)
  await dropNotificationsOf(trx, userId)
  await announce(trx, 'disabled', user, by)
  await warnOfLostQuorum(trx, { userIds: [userId], vaultIds: await listVaultIdsOf(trx, userId) }, now)
  return getOffboarding(trx, userId)
}

/**
 * Enables a disabled user, who must sign in again. Their memberships and their earlier votes count again.
 * @throws 404, 409 for a user who is not disabled, and for a service whose token was revoked
 */
export async function enable(trx: Trx, by: Offboard): Promise<PlatformUser> {
  const { userId, now } = by
  await lockPlatformAdministrators(trx, by.actorId)
  const user = await lockUser(trx, userId)
  if (user.disabled_at === null) throw conflict('wrong_state', 'They are not disabled')
  if (user.is_revoked) throw conflict('wrong_state', 'The token of the service was revoked; create a new one')
  await setDisabled(trx, userId, null, now)
  if (by.directory === undefined) await dropStop(trx, userId)
  await announce(trx, 'enabled', user, by)
  return toPlatformUser((await findPlatformUser(trx, userId))!)
}

/**
 * Enables a user as a platform administrator. A member of a vault with governance regains rights there, so that another
 * platform administrator must confirm it. An operator at the command line enables any user at once.
 */
export async function askToEnable(
  trx: Trx,
  { userId, reason }: Pick<Offboard, 'userId' | 'reason'>,
  by: ByCaller,
): Promise<{ user: PlatformUser } | { held: PlatformChangeRow }> {
  if (!(await isGovernedMember(trx, userId)))
    return { user: await enable(trx, { userId, reason, actorId: by.caller.userId, now: by.now }) }
  if ((await lockUser(trx, userId)).disabled_at === null) throw conflict('wrong_state', 'They are not disabled')
  return { held: await holdPlatformChange(trx, { action: 'user_enable', targetId: userId, payload: { reason } }, by) }
}

async function isGovernedMember(trx: Trx, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select from policy_group_memberships m join governance g on g.vault_id = m.vault_id and g.threshold > 0
    where m.user_id = ${userId} limit 1`.execute(trx)
  return rows.length > 0
}

/** Returns the objects that a user leaves behind. @throws 404 */
export async function getOffboarding(db: Db | Trx, userId: string): Promise<Offboarding> {
  const row = await findPlatformUser(db, userId)
  if (row === null) throw notFound('User')
  const { serviceTokens, invitations } = await findLeft(db, userId, null)
  const vaultIds = await listVaultIdsOf(db, userId)
  const withoutQuorum = (await listWithoutQuorum(db, { userIds: [userId], vaultIds })).length
  const ofWire = <T extends Left>({ createdAt, ...item }: T) => ({ ...item, createdAt: createdAt.toISOString() })
  return {
    user: toPlatformUser(row),
    onlyAdministratorOf: await listAdministeredAlone(db, userId),
    serviceTokens: serviceTokens.map(ofWire),
    invitations: invitations.map(ofWire),
    withoutQuorum,
  }
}

/** The greatest number of listed objects of each type, in the vault or in all vaults that are asked for. */
const listedMax = 100

type Vault = { code: string; name: string }

/** An object that a user made and that works without them. */
type Left = { vault: Vault; id: string; createdAt: Date }

type LeftBehind = {
  serviceTokens: (Left & { userId: string; name: string })[]
  invitations: (Left & { email: string })[]
}

/** Finds the newest objects that a user made in a vault, or in all vaults, and that still work. */
async function findLeft(db: Db | Trx, userId: string, vaultId: string | null): Promise<LeftBehind> {
  const isIn = (id: string) => sql`(${vaultId}::text is null or ${sql.ref(id)} = ${vaultId})`
  const vault = sql`json_build_object('code', v.code, 'name', v.name) as vault`
  const serviceTokens = await sql<LeftBehind['serviceTokens'][number]>`
    select ${vault}, t.id, t.user_id as "userId", t.name, t.created_at as "createdAt"
    from service_tokens t join vaults v on v.id = t.vault_id
    where t.created_by_id = ${userId} and t.revoked_at is null and ${isIn('t.vault_id')}
    order by t.created_at desc, t.id desc limit ${listedMax}`.execute(db)
  const invitations = await sql<LeftBehind['invitations'][number]>`
    select ${vault}, i.id, i.email, i.created_at as "createdAt"
    from invitations i join vaults v on v.id = i.vault_id
    where i.created_by_id = ${userId} and i.status = 'pending' and ${isIn('i.vault_id')}
    order by i.created_at desc, i.id desc limit ${listedMax}`.execute(db)
  return { serviceTokens: serviceTokens.rows, invitations: invitations.rows }
}

/** Returns the vaults that have no other administrator than the user. */
async function listAdministeredAlone(db: Db | Trx, userId: string): Promise<Vault[]> {
  const { rows } = await sql<Vault>`
    select v.code, v.name
    from policy_group_memberships own
    join policy_groups g on g.vault_id = own.vault_id and g.id = own.group_id and ${isAdministrators('g')}
    join vaults v on v.id = own.vault_id
    where own.user_id = ${userId} and not exists (
      select from policy_group_memberships m join users u on u.id = m.user_id and u.disabled_at is null
      where m.vault_id = g.vault_id and m.group_id = g.id and m.user_id <> ${userId})
    order by v.code`.execute(db)
  return rows
}

/** Returns the user of an e-mail address. @throws 404 */
export async function findUserIdOf(trx: Trx, email: string): Promise<string> {
  const row = await trx.selectFrom('users').select('id').where('email', '=', email.toLowerCase()).executeTakeFirst()
  if (row === undefined) throw notFound('User')
  return row.id
}

/**
 * Returns the platform administrators who can sign in, and locks them so that two of them cannot disable each other.
 * @throws 403 for an actor who was disabled while they waited
 */
async function lockPlatformAdministrators(trx: Trx, actorId: string | null): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from users where is_platform_admin and disabled_at is null order by id for update`.execute(trx)
  const ids = rows.map(({ id }) => id)
  if (actorId !== null && !ids.includes(actorId)) {
    throw forbidden('platform_administrator_required', 'Only platform administrators may do this')
  }
  return ids
}

type LockedUser = Pick<PlatformUserRow, 'id' | 'kind' | 'email' | 'disabled_at' | 'is_platform_admin'> & {
  name: string | null
  is_revoked: boolean
}

async function lockUser(trx: Trx, userId: string): Promise<LockedUser> {
  const { rows } = await sql<LockedUser>`
    select u.id, u.kind, u.name, u.email, u.disabled_at, u.is_platform_admin, ${isRevokedService} as is_revoked
    from users u where u.id = ${userId} for update of u`.execute(trx)
  const [user] = rows
  if (user === undefined) throw notFound('User')
  return user
}

/** Deletes the stop of a person by a directory, also a stop that waits. Returns false if the person has no stop. */
async function dropStop(trx: Trx, userId: string): Promise<boolean> {
  const { numDeletedRows } = await trx.deleteFrom('directory_stops').where('user_id', '=', userId).executeTakeFirst()
  return numDeletedRows > 0n
}

async function setDisabled(trx: Trx, userId: string, disabledAt: Date | null, now: Date): Promise<void> {
  await trx.updateTable('users').set({ disabled_at: disabledAt, updated_at: now }).where('id', '=', userId).execute()
}

/**
 * Announces the change to the platform administrators and in each vault of the user. The mail of a vault names only objects of that
 * vault, so that its administrators can revoke them.
 */
async function announce(
  trx: Trx,
  verb: 'disabled' | 'enabled',
  { id, name, email, kind }: LockedUser,
  { userId, reason, actorId, operator, directory, now }: Offboard,
): Promise<void> {
  const details = { reason, email: email ?? undefined, operator, directory }
  const event = { actorId, action: `user.${verb}`, targetType: 'user', targetId: id, details, now }
  const author = directory === undefined ? 'an administrator of the platform' : `the directory ${quote(directory)}`
  const sentence = `${quote(`${name ?? id} (${email ?? kind})`)} was ${verb} by ${author}`
  const facts = { reason, operator }
  await announceRegistryChange(trx, { ...event, words: { sentence, after: facts } }, [])
  for (const vaultId of await listVaultIdsOf(trx, userId)) {
    const after = verb === 'enabled' ? facts : { ...facts, ...(await listToRevoke(trx, userId, vaultId)) }
    await announceVaultChange(trx, { ...event, vaultId, words: { sentence, after } }, { userIds: [userId] })
  }
}

/** Returns the names of what the administrators of a vault must revoke. Objects of another vault must not displace them. */
async function listToRevoke(trx: Trx, userId: string, vaultId: string) {
  const { serviceTokens, invitations } = await findLeft(trx, userId, vaultId)
  return {
    'service tokens to revoke': serviceTokens.map((token) => token.name),
    'invitations to revoke': invitations.map((invitation) => invitation.email),
  }
}
