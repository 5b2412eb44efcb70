import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf } from '../../../access/caller.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { sessionCookie } from '../../../http/guard.ts'
import { mutate, noContent, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { Closed, IdParams, PageOf, pageQuery, Ref } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { badRequest, unauthorized } from '../../../lib/errors.ts'
import { newSecret } from '../../../lib/secrets.ts'
import { senderOf } from '../../../lib/sender.ts'
import { toProfile } from '../users/present.ts'
import { redeemMagicLink, requestMagicLink } from './actions.ts'
import { bindingCookie, bindingCookieOptions, deviceCookie, sessionCookieOptions } from './cookies.ts'
import { toCurrentSession, toSession } from './present.ts'
import { findMagicLink, getPerson, listSessions } from './queries.ts'
import { isOwnPath } from './redirect.ts'
import {
  CurrentSession,
  MagicLinkQuery,
  MagicLinkSent,
  RedeemMagicLink,
  RequestMagicLink,
  Session,
  SignIn,
} from './schema.ts'
import { revokeSession, signOut } from './sessions.ts'
import { countFailedRedemption, countFailedRequest } from './sign-in-limit.ts'
import { deviceOf, setSession } from './sign-in-reply.ts'

export function authRoutes(app: App, deps: Deps): void {
  app.post(
    '/auth/magic-link',
    route({
      operationId: 'requestMagicLink',
      summary: 'Ask for a sign-in link by e-mail',
      description:
        'The answer is the same for every e-mail address. Only users and invited people receive a link, and at most five unexpired links at a time are sent for requests from unknown devices.',
      tag: 'Sign-in',
      access: 'public',
      body: RequestMagicLink,
      answers: { 200: MagicLinkSent },
    }),
    async (request, reply) => {
      const { email, redirectTo = null, invitationToken = null } = request.body
      if (redirectTo !== null && !isOwnPath(redirectTo)) {
        throw badRequest('redirectTo', 'must be a path of this origin, such as /vaults')
      }
      const binding = newSecret()
      return mutate(deps, request, reply, async (trx) => {
        const deviceCookieValue = request.cookies[deviceCookie] ?? null
        const asked = { email, redirectTo, invitationToken, binding, ip: request.ip, deviceCookie: deviceCookieValue }
        await requestMagicLink(trx, deps, asked, deps.clock())
        reply.setCookie(bindingCookie, binding, bindingCookieOptions(deps.publicOrigin()))
        return ok({ status: 'sent' })
      })
    },
  )

  app.get(
    '/auth/magic-link/verify',
    route({
      operationId: 'followMagicLink',
      summary: 'Follow a mailed sign-in link',
      description:
        'In the browser that asked for the link it signs in. Anywhere else it uses nothing up and leads to a page that asks for the code of the mail.',
      tag: 'Sign-in',
      access: 'public',
      querystring: MagicLinkQuery,
      answers: { 302: null },
    }),
    async (request, reply) => {
      const { token } = request.query
      const now = deps.clock()
      const binding = request.cookies[bindingCookie]
      const signedIn =
        binding === undefined
          ? null
          : await inTransaction(deps.db, (trx) =>
              redeemMagicLink(trx, deps, { token, binding, device: deviceOf(request, 'browser') }, now),
            )
      if (signedIn !== null) {
        setSession(deps, reply, signedIn)
        return reply.redirect(signedIn.redirectTo ?? '/', 302)
      }
      if ((await findMagicLink(deps.db, token, now)) !== null) {
        return reply.redirect(`/sign-in/confirm?token=${encodeURIComponent(token)}`, 302)
      }
      await countFailure(request)
      return reply.redirect('/sign-in?error=link', 302)
    },
  )

  app.post(
    '/auth/magic-link/verify',
    route({
      operationId: 'redeemMagicLink',
      summary: 'Turn the token of a sign-in link into a session',
      description:
        'How apps and services get a Bearer token; browsers get the session cookie besides. The person is told by mail of a sign-in from a device that is new: a browser without the cookie `device` of an earlier sign-in, or a program whose User-Agent was not seen in this network before. A link that works is redeemed whatever the limits say; a sender who fails too often gets 429.',
      tag: 'Sign-in',
      access: 'public',
      body: RedeemMagicLink,
      answers: { 200: Ref(SignIn) },
      errors: [401],
    }),
    (request, reply) =>
      mutate(deps, request, reply, async (trx) => {
        const now = deps.clock()
        const by = { token: request.body.token, device: deviceOf(request, 'program') }
        const signedIn = await redeemMagicLink(trx, deps, by, now)
        if (signedIn === null) {
          const tooMany = await countFailedRedemption(trx, senderOf(request.ip), now)
          // Thrown and not returned: what is answered to somebody who tries too often is not stored for their key.
          if (tooMany !== null) throw tooMany
          return { refusal: unauthorized('The sign-in link is unknown, used or expired; ask for a new one') }
        }
        setSession(deps, reply, signedIn)
        const expiresAt = signedIn.expiresAt.toISOString()
        const body = { token: signedIn.token, expiresAt, user: toProfile(signedIn.user) }
        return ok(body, { secrets: ['token'] })
      }),
  )

  app.get(
    '/auth/session',
    route({
      operationId: 'getCurrentSession',
      summary: 'Who is signed in, until when, and in which vaults',
      tag: 'Sign-in',
      access: 'caller',
      answers: { 200: Ref(CurrentSession) },
    }),
    async (request) => {
      const { userId, expiresAt } = callerOf(request)
      return toCurrentSession(await getPerson(deps.db, userId), expiresAt)
    },
  )

  app.post(
    '/auth/sign-out',
    route({
      operationId: 'signOut',
      summary: 'End the session of this request',
      tag: 'Sign-in',
      access: 'caller',
      answers: { 204: null },
      errors: [403, 409],
    }),
    (request, reply) =>
      mutate(deps, request, reply, async (trx) => {
        await signOut(trx, callerOf(request), deps.clock())
        clearSession(reply)
        return noContent()
      }),
  )

  app.get(
    '/auth/sessions',
    route({
      operationId: 'listSessions',
      summary: 'List your own sessions, newest first',
      tag: 'Sign-in',
      access: 'caller',
      querystring: Closed(pageQuery),
      answers: { 200: PageOf(Ref(Session)) },
    }),
    async (request) => {
      const caller = callerOf(request)
      const { after, limit } = pageOf(request.query)
      const rows = await listSessions(deps.db, caller.userId, deps.clock(), after, limit)
      return toPage(
        rows,
        limit,
        (row) => ({ createdAt: row.created_at, id: row.id }),
        (row) => toSession(row, caller),
      )
    },
  )

  app.delete(
    '/auth/sessions/:id',
    route({
      operationId: 'revokeSession',
      summary: 'End one of your own sessions',
      tag: 'Sign-in',
      access: 'caller',
      params: IdParams,
      answers: { 204: null },
      errors: [403, 404, 409],
    }),
    (request, reply) =>
      mutate(deps, request, reply, async (trx) => {
        const caller = callerOf(request)
        await revokeSession(trx, caller, request.params.id, deps.clock())
        if (request.params.id === caller.sessionId) clearSession(reply)
        return noContent()
      }),
  )

  /** @throws 429 */
  async function countFailure(request: FastifyRequest): Promise<void> {
    const refusal = await countFailedRequest(deps, request)
    if (refusal !== null) throw refusal
  }

  function clearSession(reply: FastifyReply): void {
    reply.clearCookie(sessionCookie, sessionCookieOptions(deps.publicOrigin()))
  }
}
