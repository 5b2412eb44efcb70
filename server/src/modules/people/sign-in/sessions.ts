import { sql } from 'kysely'
import type { Caller } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { conflict, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { breakGlassSessionHours, sessionEndDays, userAgentLengthMax } from '../../../lib/limits.ts'
import { equalsSecret, newSecret, sha256 } from '../../../lib/secrets.ts'
import { enqueueMail } from '../../../mail/queue.ts'
import { insertAuditRecords } from '../../record/audit/record.ts'
import { listVaultIdsOf } from '../../rules/policy-groups/memberships.ts'
import type { ProfileRow } from '../users/queries.ts'
import { type Device, forgetDevice, forgetDevicesOf, noteDevice } from './devices.ts'

const dayMilliseconds = 86_400_000

/** The ways in which a session can begin. */
export const signInMethods = [
  'magic_link',
  'code',
  'operator_link',
  'invitation',
  'passkey',
  'provider',
  'break_glass',
] as const
export type SignInMethod = (typeof signInMethods)[number]

export type OpenedSession = { token: string; expiresAt: Date; endsAt: Date; deviceCookie: string | null }

/** The queued mail that reports a sign-in. It holds all facts of the mail, because the session may end before the mail is sent. */
export type SignInNotice = {
  kind: 'sign-in'
  sessionId: string
  email: string
  method: SignInMethod
  userAgent: string | null
  ip: string
  signedInAt: string
}

/** The identity provider that opens a session, and the facts about the sign-in that it stated. */
export type SessionProvider = {
  providerId: string
  subject: string
  sid: string | null
  authTime: Date | null
  acr: string | null
  amr: string[] | null
  /** The longest life of the session, in hours. */
  hours: number
  /** True for the first session of a person through the provider. */
  isFirst: boolean
}

type Opening = { user: ProfileRow; method: SignInMethod; device: Device; provider?: SessionProvider | undefined }

/**
 * Starts a session of a user whom `lockToSignIn` has locked. A mail notifies the person if the device is new, if an operator created
 * the link, or if it is the first session through an identity provider.
 */
export async function openSession(
  trx: Trx,
  deps: Pick<Deps, 'config'>,
  { user, method, device, provider }: Opening,
  now: Date,
): Promise<OpenedSession> {
  const id = newId(now)
  const token = newSecret()
  const endsAt = new Date(now.getTime() + lifeMillisecondsOf(method, provider))
  const slidesTo = now.getTime() + deps.config.sessionTtlDays * dayMilliseconds
  const expiresAt = new Date(Math.min(slidesTo, endsAt.getTime()))
  const known = await noteDevice(trx, user.id, device, now)
  const { ip } = device
  const userAgent = device.userAgent?.slice(0, userAgentLengthMax) ?? null
  await trx
    .insertInto('sessions')
    .values({
      id,
      token_hash: sha256(token),
      user_id: user.id,
      method,
      user_agent: userAgent,
      ip,
      device_hash: known.hash,
      ...columnsOf(provider),
      created_at: now,
      last_seen_at: now,
      expires_at: expiresAt,
      ends_at: endsAt,
    })
    .execute()
  const details = { method, ip, userAgent, isNewDevice: known.isNew, providerId: provider?.providerId }
  await insertSessionRecord(trx, 'user.signed_in', user.id, { sessionId: id, details }, now)
  if (known.isNew || method === 'operator_link' || provider?.isFirst === true) {
    const signedInAt = now.toISOString()
    const notice: SignInNotice = {
      kind: 'sign-in',
      sessionId: id,
      email: user.email!,
      method,
      userAgent,
      ip,
      signedInAt,
    }
    await enqueueMail(trx, notice, now)
  }
  return { token, expiresAt, endsAt, deviceCookie: known.cookie }
}

function lifeMillisecondsOf(method: SignInMethod, provider: SessionProvider | undefined): number {
  if (method === 'break_glass') return breakGlassSessionHours * 3_600_000
  return provider === undefined ? sessionEndDays * dayMilliseconds : provider.hours * 3_600_000
}

/** Makes all mailed links of an e-mail address invalid. It waits for a link that is redeemed at this moment. */
export async function deleteLinksOf(trx: Trx, email: string): Promise<void> {
  await trx.deleteFrom('magic_links').where('email', '=', email).execute()
  await trx.deleteFrom('identity_links').where('email', '=', email).execute()
}

/** Returns the session of the request. @throws 409 for a service token, which has no session */
export function sessionOf({ sessionId }: Caller): string {
  if (sessionId !== null) return sessionId
  throw conflict(
    'no_session',
    'A service token has no session to sign out of; an administrator of its vault revokes it',
  )
}

/** Ends the session of the request. @throws 409 for a service token */
export async function signOut(trx: Trx, caller: Caller, now: Date): Promise<void> {
  const sessionId = sessionOf(caller)
  await trx.deleteFrom('sessions').where('id', '=', sessionId).execute()
  await insertSessionRecord(trx, 'user.signed_out', caller.userId, { sessionId }, now)
}

/** Ends a session of the caller. @throws 404 for a session of another person */
export async function revokeSession(trx: Trx, caller: Caller, id: string, now: Date): Promise<void> {
  if (!(await endSession(trx, { id, userId: caller.userId, details: {} }, now))) throw notFound('Session')
}

/**
 * Ends all sessions of a person who loses access, and records it in their vaults. It also forgets their devices, so
 * that their next sign-in is reported by mail.
 */
export async function endSessionsOf(trx: Trx, userId: string, via: 'hold' | 'disabled', now: Date): Promise<void> {
  // A sign-in at this moment either has its session, which ends here, or waits and is refused (`lockToSignIn`).
  await sql`select from users where id = ${userId} for update`.execute(trx)
  const ended = await trx.deleteFrom('sessions').where('user_id', '=', userId).returning('id').execute()
  await forgetDevicesOf(trx, userId, null)
  if (ended.length === 0) return
  const vaultIds = await listVaultIdsOf(trx, userId)
  for (const { id: targetId } of ended) {
    const event = { actorId: null, action: 'session.revoked', targetType: 'session', targetId, details: { via } }
    await insertAuditRecords(trx, { ...event, now }, vaultIds)
  }
}

/**
 * Ends the sessions that an identity provider opened: with `subject` only those of this person, with `sid` only those of this
 * session at the provider. Returns their number.
 */
export async function endSessionsOfIdentity(
  trx: Trx,
  { providerId, subject, sid }: { providerId: string; subject: string | null; sid: string | null },
  now: Date,
): Promise<number> {
  let ended = trx.deleteFrom('sessions').where('provider_id', '=', providerId)
  if (subject !== null) ended = ended.where('provider_subject', '=', subject)
  if (sid !== null) ended = ended.where('provider_sid', '=', sid)
  const rows = await ended.returning(['id', 'user_id']).execute()
  for (const { id, user_id: userId } of rows)
    await insertSessionRecord(trx, 'session.revoked', userId, { sessionId: id, details: { via: 'provider' } }, now)
  return rows.length
}

/** Ends the sessions of people with addresses of the domains, except sessions that a provider opened. */
export async function endSessionsBesideProvider(trx: Trx, domains: string[], now: Date): Promise<void> {
  const { rows } = await sql<{ id: string; userId: string }>`
    delete from sessions s using users u
    where u.id = s.user_id and s.provider_id is null and split_part(u.email, '@', 2) = any(${domains}::text[])
    returning s.id, s.user_id as "userId"`.execute(trx)
  for (const { id: sessionId, userId } of rows)
    await insertSessionRecord(trx, 'session.revoked', userId, { sessionId, details: { via: 'enforced' } }, now)
}

function columnsOf(provider: SessionProvider | undefined) {
  if (provider === undefined) return {}
  return {
    provider_id: provider.providerId,
    provider_subject: provider.subject,
    provider_sid: provider.sid,
    auth_time: provider.authTime,
    acr: provider.acr,
    amr: provider.amr,
  }
}

/** Returns the key that the mail about a sign-in contains. It can only end that session, and is valid without signing in. */
export function keyToEnd(sealer: Deps['sealer'], sessionId: string): string {
  return sealer.mac('end session', sessionId).toString('base64url')
}

export function isKeyToEnd(sealer: Deps['sealer'], sessionId: string, key: string): boolean {
  return equalsSecret(key, keyToEnd(sealer, sessionId))
}

/** Ends a session by the key in the mail about it. Returns false when the session has already ended. */
export async function endMailedSession(trx: Trx, id: string, now: Date): Promise<boolean> {
  return endSession(trx, { id, userId: null, details: { via: 'mail' } }, now)
}

/** Ends a session and forgets its device, so that its next sign-in is reported by mail. Returns false if the session had ended. */
async function endSession(
  trx: Trx,
  { id, userId, details }: { id: string; userId: string | null; details: Record<string, unknown> },
  now: Date,
): Promise<boolean> {
  let deletion = trx.deleteFrom('sessions').where('id', '=', id)
  if (userId !== null) deletion = deletion.where('user_id', '=', userId)
  const ended = await deletion.returning(['user_id', 'device_hash']).executeTakeFirst()
  if (ended === undefined) return false
  await forgetDevice(trx, ended.user_id, ended.device_hash)
  await insertSessionRecord(trx, 'session.revoked', ended.user_id, { sessionId: id, details }, now)
  return true
}

/** Records the event for the platform and for each vault of the person, so that the administrators of both can see it. */
async function insertSessionRecord(
  trx: Trx,
  action: 'user.signed_in' | 'user.signed_out' | 'session.revoked',
  userId: string,
  { sessionId, details = {} }: { sessionId: string; details?: Record<string, unknown> },
  now: Date,
): Promise<void> {
  const event = { actorId: userId, action, targetType: 'session', targetId: sessionId, details, now }
  await insertAuditRecords(trx, event, await listVaultIdsOf(trx, userId))
}
