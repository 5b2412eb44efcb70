import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { sessionCookie } from '../../../http/guard.ts'
import type { Reply } from '../../../http/reply.ts'
import { badRequest, unauthorized } from '../../../lib/errors.ts'
import { magicLinkTtlMinutes } from '../../../lib/limits.ts'
import { newSecret } from '../../../lib/secrets.ts'
import { senderOf } from '../../../lib/sender.ts'
import { requestOptions } from '../passkeys/options.ts'
import { PasskeySignIn, RequestOptions } from '../passkeys/schema.ts'
import { redeemMagicLink, requestMagicLink, signInPurpose, signInWithPasskey } from './actions.ts'
import {
  bindingCookie,
  bindingCookieOptions,
  deviceCookie,
  deviceOf,
  passkeyCookie,
  passkeyCookieOptions,
  sessionCookieOptions,
  setSession,
} from './cookies.ts'
import { toCurrentSession, toSession, toSignIn } from './present.ts'
import { findMagicLink, getPerson, listSessions, listSessionsOf } from './queries.ts'
import { isOwnPath } from './redirect.ts'
import {
  CurrentSession,
  MagicLinkQuery,
  MagicLinkSent,
  RedeemMagicLink,
  RequestMagicLink,
  Session,
  SignedOutEverywhere,
  SignIn,
  SignOutEverywhere,
} from './schema.ts'
import { revokeSession, sessionOf, signOut } from './sessions.ts'
import { countFailedRedemption, countFailedRequest } from './sign-in-limit.ts'
import { signOutEverywhere } from './sign-out-everywhere.ts'

const linkRequired = `A link was mailed to you as well; open it in this browser within ${magicLinkTtlMinutes} minutes`

export function authRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Sign-in', { access: 'public', scopes: { reads: 'read', writes: 'write' } })

  api.post('requestMagicLink', '/auth/magic-link', {
    summary: 'Request a sign-in link',
    description:
      'The answer is the same for every e-mail address. Only users and invited people receive a link, and at most ' +
      'five unexpired links at a time are sent for requests from unknown devices.',
    body: RequestMagicLink,
    answers: { 200: MagicLinkSent },
    handler: async (trx, { body, now }, { request, reply }) => {
      const { email, redirectTo = null, invitationToken = null } = body
      if (redirectTo !== null && !isOwnPath(redirectTo)) {
        throw badRequest('redirectTo', 'must be a path of this origin, such as /vaults')
      }
      const binding = newSecret()
      const device = { ip: request.ip, deviceCookie: request.cookies[deviceCookie] ?? null }
      await requestMagicLink(trx, { email, redirectTo, invitationToken, binding, ...device }, now)
      reply.setCookie(bindingCookie, binding, bindingCookieOptions(deps.publicOrigin()))
      return { status: 'sent' as const }
    },
  })

  api.get('followMagicLink', '/auth/magic-link/verify', {
    summary: 'Follow a sign-in link',
    description:
      'Signs in when it is called by the browser that requested the link. Anywhere else it consumes nothing and ' +
      'redirects to a page that asks for the code from the mail.',
    querystring: MagicLinkQuery,
    answers: { 302: null },
    handler: async (db, { query: { token }, now }, { request, reply }) => {
      const binding = request.cookies[bindingCookie]
      // A HEAD request must change nothing, so it never redeems.
      if (binding !== undefined && request.method !== 'HEAD') {
        const link = { token, binding, device: deviceOf(request, 'browser') }
        const signedIn = await inTransaction(db, (trx) => redeemMagicLink(trx, deps, link, now))
        if (signedIn !== null) {
          setSession(deps, reply, signedIn)
          return reply.redirect(signedIn.redirectTo ?? '/', 302)
        }
      }
      if ((await findMagicLink(db, token, now)) !== null) {
        return reply.redirect(`/sign-in/confirm?token=${encodeURIComponent(token)}`, 302)
      }
      const tooMany = await countFailedRequest(deps, request)
      if (tooMany !== null) throw tooMany
      return reply.redirect('/sign-in?error=link', 302)
    },
  })

  api.post('redeemMagicLink', '/auth/magic-link/verify', {
    summary: 'Redeem a sign-in link',
    description:
      'Exchanges the token of a sign-in link for a session: this is how apps and services get a Bearer token; ' +
      'browsers also get the session cookie. The person gets a mail about a sign-in from a new device: a browser ' +
      'without the cookie `device` of an earlier sign-in, or a program whose User-Agent was not seen in this network ' +
      'before. A valid token is redeemed regardless of the limits; a sender who fails too often gets 429.',
    body: RedeemMagicLink,
    answers: { 200: SignIn },
    errors: ['invalid_sign_in_link'],
    secrets: ['token'],
    handler: async (trx, { body: { token }, now }, { request, reply }) => {
      const signedIn = await redeemMagicLink(trx, deps, { token, device: deviceOf(request, 'program') }, now)
      if (signedIn === null) {
        const tooMany = await countFailedRedemption(trx, senderOf(request.ip), now)
        // The error is thrown and not returned, so that a 429 is not stored for the Idempotency-Key.
        if (tooMany !== null) throw tooMany
        return {
          refusal: unauthorized(
            'invalid_sign_in_link',
            'The sign-in link is unknown, was used before or has expired; request a new link',
          ),
        }
      }
      setSession(deps, reply, signedIn)
      return toSignIn(signedIn)
    },
  })

  api.calculate('preparePasskeySignIn', '/auth/passkey/options', {
    summary: 'Prepare signing in with a passkey',
    description:
      'Options with which a browser signs you in with any of your passkeys. The answer of the authenticator is valid once, ' +
      'for five minutes, in the browser that requested the options.',
    answers: { 200: RequestOptions },
    handler: async (_db, { now }, { reply }) => {
      const binding = newSecret()
      reply.setCookie(passkeyCookie, binding, passkeyCookieOptions(deps.publicOrigin()))
      return requestOptions(deps, signInPurpose(binding), [], now)
    },
  })

  api.post('signInWithPasskey', '/auth/passkey', {
    summary: 'Sign in with a passkey',
    description:
      'For the browser that requested the options. The session is like that of a sign-in link; a sign-in from a new device is ' +
      'announced by mail. A sender who fails too often gets 429. Where an identity provider is enforced, a passkey opens no session; ' +
      'a break-glass person gets 401 `link_required` and a mail with a link that opens a session in the same browser.',
    body: PasskeySignIn,
    answers: { 200: SignIn },
    errors: ['invalid_passkey', 'link_required'],
    secrets: ['token'],
    handler: async (trx, { body: { credential }, now }, { request, reply }) => {
      const binding = request.cookies[passkeyCookie] ?? ''
      const linkBinding = newSecret()
      const arrival = { credential, binding, linkBinding, device: deviceOf(request, 'browser') }
      const signedIn = await signInWithPasskey(trx, deps, arrival, now)
      if (signedIn === 'link_required') {
        reply.setCookie(bindingCookie, linkBinding, bindingCookieOptions(deps.publicOrigin()))
        return { refusal: unauthorized('link_required', linkRequired) }
      }
      if (signedIn === null) {
        const tooMany = await countFailedRedemption(trx, senderOf(request.ip), now)
        if (tooMany !== null) throw tooMany
        return {
          refusal: unauthorized(
            'invalid_passkey',
            'The passkey is unknown, or its answer was used before or has expired',
          ),
        }
      }
      setSession(deps, reply, signedIn)
      reply.clearCookie(passkeyCookie, passkeyCookieOptions(deps.publicOrigin()))
      return toSignIn(signedIn)
    },
  })

  api.get('getCurrentSession', '/auth/session', {
    summary: 'Get the current session',
    description:
      'Returns the signed-in user, the time at which the session expires, and the vaults of which the user is a member.',
    access: 'caller',
    answers: { 200: CurrentSession },
    handler: async (db, { caller }) => toCurrentSession(await getPerson(db, caller.userId), caller.expiresAt),
  })

  api.post('signOut', '/auth/sign-out', {
    summary: 'Sign out',
    description:
      'Ends the session of this request. 409 for a service token, which has no session: an administrator of its vault revokes it.',
    access: 'caller',
    answers: { 204: null },
    errors: [403, 'no_session'],
    handler: async (trx, { caller, now }, { reply }) => {
      await signOut(trx, caller, now)
      clearSession(reply)
    },
  })

  api.post('signOutEverywhere', '/auth/sign-out-everywhere', {
    summary: 'Sign out everywhere',
    description:
      'Ends your sessions with the next request on every node, and the links that were mailed to you. The next sign-in from each ' +
      'device is announced by mail. 409 for a service token, which has no session.',
    access: 'caller',
    body: SignOutEverywhere,
    answers: { 200: SignedOutEverywhere },
    errors: [403, 'no_session'],
    handler: async (trx, { body: { keepCurrent = false }, caller, now }, { reply }) => {
      const current = sessionOf(caller)
      const whose = { userId: caller.userId, keptId: keepCurrent ? current : null }
      const ended = await signOutEverywhere(trx, whose, { caller, now })
      if (!keepCurrent) clearSession(reply)
      return { ended }
    },
  })

  api.list('listSessions', '/auth/sessions', {
    summary: 'List your sessions',
    description: 'Newest first.',
    access: 'caller',
    item: Session,
    load: (db, { caller, now }, page) => listSessions(db, caller.userId, page, now),
    present: (row, { caller }) => toSession(row, caller),
  })

  api.delete('revokeSession', '/auth/sessions/:id', {
    summary: 'Revoke one of your sessions',
    description:
      'The session ends with the next request that uses it, and its device is forgotten: the next sign-in from that ' +
      'device is announced by mail again.',
    access: 'caller',
    answers: { 204: null },
    errors: [403, 404],
    handler: async (trx, { caller, params, now }, { reply }) => {
      await revokeSession(trx, caller, params.id, now)
      if (params.id === caller.sessionId) clearSession(reply)
    },
  })

  api.list('listUserSessions', '/users/:id/sessions', {
    summary: 'List the sessions of a user',
    description: 'For platform administrators, newest first.',
    access: 'platform',
    errors: [404],
    item: Session,
    load: (db, { params, now }, page) => listSessionsOf(db, params.id, page, now),
    present: (row, { caller }) => toSession(row, caller),
  })

  api.post('signOutUserEverywhere', '/users/:id/sign-out-everywhere', {
    summary: 'Sign a user out everywhere',
    description:
      'For platform administrators. Ends the sessions of the user with the next request on every node, and links that were mailed ' +
      'to them. They can sign in again; to stop them, disable them.',
    access: 'platform',
    errors: [404],
    answers: { 200: SignedOutEverywhere },
    handler: async (trx, { params, ...by }) => ({
      ended: await signOutEverywhere(trx, { userId: params.id, keptId: null }, by),
    }),
  })

  function clearSession(reply: Reply): void {
    reply.clearCookie(sessionCookie, sessionCookieOptions(deps.publicOrigin()))
  }
}
