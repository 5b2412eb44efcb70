import type { Caller } from '../../access/caller.ts'
import type { Trx } from '../../db/client.ts'
import type { Deps } from '../../deps.ts'
import { conflict, notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { magicLinkTtlMinutes, sessionEndDays, userAgentLengthMax } from '../../lib/limits.ts'
import { newSecret, sha256 } from '../../lib/secrets.ts'
import { insertAuditRecord } from '../audit/record.ts'
import { acceptInvitations, lockPendingInvitations } from '../invitations/actions.ts'
import { hasPendingInvitation } from '../invitations/queries.ts'
import { ensureUser } from '../users/actions.ts'
import type { ProfileRow } from '../users/present.ts'
import { findUserByEmail } from '../users/queries.ts'
import { countSignInAttempt } from './sign-in-limit.ts'

const dayMilliseconds = 86_400_000

/** The job that sends a sign-in link, if the e-mail address may sign in. Digests are in base64url; it holds no secret. */
export type MagicLinkRequest = {
  kind: 'magic-link'
  mailId: string
  requestedAt: string
  email: string
  bindingHash: string | null
  redirectTo: string | null
  invitationHash: string | null
}

/**
 * Counts the request and enqueues its mail. It looks nothing up about the e-mail address: that way a known one cannot be
 * told from an unknown one, neither by the answer nor by the time it takes.
 * @throws 429 when the e-mail address or the sender asked too often
 */
export async function requestMagicLink(
  trx: Trx,
  deps: Deps,
  request: { email: string; redirectTo: string | null; invitationToken: string | null; binding: string; ip: string },
  now: Date,
): Promise<void> {
  const email = request.email.toLowerCase()
  await countSignInAttempt(trx, email, request.ip, now)
  const job: MagicLinkRequest = {
    kind: 'magic-link',
    mailId: newId(now),
    requestedAt: now.toISOString(),
    email,
    bindingHash: toText(sha256(request.binding)),
    redirectTo: request.redirectTo,
    invitationHash: request.invitationToken === null ? null : toText(sha256(request.invitationToken)),
  }
  await deps.jobs.enqueue(trx, 'send-mail', job)
}

/** Makes the token of a sign-in link and keeps its digest; null when the e-mail address may not sign in. */
export async function issueMagicLink(
  trx: Trx,
  request: Pick<MagicLinkRequest, 'email' | 'bindingHash' | 'redirectTo' | 'invitationHash'>,
  now: Date,
): Promise<string | null> {
  const { email, bindingHash, redirectTo, invitationHash } = request
  const user = await findUserByEmail(trx, email)
  const maySignIn =
    user === null ? await hasPendingInvitation(trx, email, fromText(invitationHash)) : user.disabled_at === null
  if (!maySignIn) return null
  const token = newSecret()
  await trx
    .insertInto('magic_links')
    .values({
      token_hash: sha256(token),
      email,
      binding_hash: fromText(bindingHash),
      redirect_to: redirectTo,
      created_at: now,
      expires_at: new Date(now.getTime() + magicLinkTtlMinutes * 60_000),
    })
    .execute()
  return token
}

/**
 * A sign-in link that an operator hands over instead of a mail; it leads to the confirm page, in whatever browser.
 * @throws 404 when nobody signs in with the e-mail address
 */
export async function createSignInLink(
  trx: Trx,
  deps: Pick<Deps, 'publicOrigin'>,
  email: string,
  now: Date,
): Promise<string> {
  const token = await issueMagicLink(
    trx,
    { email: email.toLowerCase(), bindingHash: null, redirectTo: null, invitationHash: null },
    now,
  )
  if (token === null) throw notFound('User')
  return `${deps.publicOrigin()}/sign-in/confirm?token=${token}`
}

type Device = { userAgent: string | null; ip: string }
export type SignedIn = {
  token: string
  expiresAt: Date
  endsAt: Date
  user: ProfileRow
  redirectTo: string | null
}

/**
 * Uses up a sign-in link: a session, the person if the invitation is their first, and every pending invitation of the
 * e-mail address, all at once. With `binding` only the link that this browser asked for is used up.
 * Null when the link is unknown, used, expired or not bound so, or when the e-mail address may not sign in any more.
 */
export async function redeemMagicLink(
  trx: Trx,
  deps: Pick<Deps, 'config'>,
  { token, binding, device }: { token: string; binding?: string; device: Device },
  now: Date,
): Promise<SignedIn | null> {
  let claim = trx.deleteFrom('magic_links').where('token_hash', '=', sha256(token)).where('expires_at', '>', now)
  if (binding !== undefined) claim = claim.where('binding_hash', '=', sha256(binding))
  const link = await claim.returning(['email', 'redirect_to']).executeTakeFirst()
  if (link === undefined) return null

  // The lock comes first: what is read after it no longer changes by a revocation or by another sign-in.
  const invitations = await lockPendingInvitations(trx, link.email)
  const known = await findUserByEmail(trx, link.email)
  if (known === null ? invitations === 0 : known.disabled_at !== null) return null
  const user = known ?? (await ensureUser(trx, link.email, now))
  const session = await insertSession(trx, user.id, device, deps.config.sessionTtlDays, now)
  if (invitations > 0) await acceptInvitations(trx, link.email, user.id, now)
  return { ...session, user, redirectTo: link.redirect_to }
}

async function insertSession(trx: Trx, userId: string, { userAgent, ip }: Device, ttlDays: number, now: Date) {
  const id = newId(now)
  const token = newSecret()
  const endsAt = new Date(now.getTime() + sessionEndDays * dayMilliseconds)
  const expiresAt = new Date(Math.min(now.getTime() + ttlDays * dayMilliseconds, endsAt.getTime()))
  await trx
    .insertInto('sessions')
    .values({
      id,
      token_hash: sha256(token),
      user_id: userId,
      user_agent: userAgent?.slice(0, userAgentLengthMax) ?? null,
      ip,
      created_at: now,
      last_seen_at: now,
      expires_at: expiresAt,
      ends_at: endsAt,
    })
    .execute()
  await insertSessionRecord(trx, 'user.signed_in', userId, id, now)
  return { token, expiresAt, endsAt }
}

/** @throws 409 for a service token, which has no session */
export async function signOut(trx: Trx, caller: Caller, now: Date): Promise<void> {
  if (caller.sessionId === null) {
    throw conflict('A service token has no session to sign out of; an administrator of its vault revokes it')
  }
  await trx.deleteFrom('sessions').where('id', '=', caller.sessionId).execute()
  await insertSessionRecord(trx, 'user.signed_out', caller.userId, caller.sessionId, now)
}

/** @throws 404 for a session that is not the caller's own */
export async function revokeSession(trx: Trx, caller: Caller, id: string, now: Date): Promise<void> {
  const { numDeletedRows } = await trx
    .deleteFrom('sessions')
    .where('id', '=', id)
    .where('user_id', '=', caller.userId)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('Session')
  await insertSessionRecord(trx, 'session.revoked', caller.userId, id, now)
}

async function insertSessionRecord(
  trx: Trx,
  action: 'user.signed_in' | 'user.signed_out' | 'session.revoked',
  userId: string,
  sessionId: string,
  now: Date,
): Promise<void> {
  await insertAuditRecord(trx, {
    vaultId: null,
    actorId: userId,
    action,
    targetType: 'session',
    targetId: sessionId,
    details: {},
    now,
  })
}

const toText = (digest: Buffer): string => digest.toString('base64url')
const fromText = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text, 'base64url'))
