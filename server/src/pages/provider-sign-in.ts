import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../access/caller.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import type { App } from '../http/endpoints.ts'
import { mediaTypeOf } from '../http/guard.ts'
import { html } from '../lib/html.ts'
import { providerSignInMinutes } from '../lib/limits.ts'
import { newSecret } from '../lib/secrets.ts'
import { beginSignIn, cookieOf } from '../modules/people/provider-sign-in/begin.ts'
import { redeemIdentityLink } from '../modules/people/provider-sign-in/link.ts'
import { endByLogoutToken } from '../modules/people/provider-sign-in/logout.ts'
import { readProviderAnswer } from '../modules/people/provider-sign-in/read-answer.ts'
import { emailOf, signInByProvider } from '../modules/people/provider-sign-in/sign-in.ts'
import { noteTrial } from '../modules/people/providers/actions.ts'
import { pathsOf } from '../modules/people/providers/present.ts'
import { ProviderError } from '../modules/people/providers/provider-error.ts'
import { findProvider, type ProviderRow } from '../modules/people/providers/queries.ts'
import { deviceOf, setSession } from '../modules/people/sign-in/cookies.ts'
import { isOwnPath } from '../modules/people/sign-in/redirect.ts'
import { audit } from '../modules/record/audit/record.ts'
import { findSignedIn, layout, pageOptions, sendPage } from './layout.ts'
import { formOptions, hasFailedTooOften, textsOf } from './sign-in.ts'

const linkCookie = 'oidc_link'
const linkPath = '/auth/oidc/link'

/**
 * Registers the pages of a sign-in through an identity provider, and the endpoint at which a provider reports that a session has
 * ended. Browsers navigate to the pages; no program of another origin reads them.
 */
export function registerProviderPages(app: App, deps: Deps): void {
  app.get('/auth/oidc/:id/start', pageOptions, async (request, reply) => {
    const { redirectTo, email = null } = textsOf(request.query)
    const provider = await findProvider(deps.db, idOf(request))
    if (provider === null) return refuse(deps, { request, reply, provider }, new ProviderError('provider_unknown'))
    try {
      const isTrial = provider.status !== 'active'
      if (isTrial) await authorOf(deps, request, provider)
      const beginning = {
        redirectTo: redirectTo !== undefined && isOwnPath(redirectTo) ? redirectTo : null,
        email,
        isTrial,
      }
      const { url, cookie } = await beginSignIn(deps, provider, beginning)
      reply.setCookie(cookie.name, cookie.value, cookieOptions(deps, pathsOf(provider.id).callback))
      return reply.redirect(url, 302)
    } catch (error) {
      return refuse(deps, { request, reply, provider }, error)
    }
  })

  app.get('/auth/oidc/:id/callback', pageOptions, async (request, reply) => {
    // A HEAD request must change nothing.
    if (request.method === 'HEAD') return reply.send()
    const provider = await findProvider(deps.db, idOf(request))
    if (provider === null) return refuse(deps, { request, reply, provider }, new ProviderError('provider_unknown'))
    try {
      return await takeAnswer(deps, { request, reply, provider })
    } catch (error) {
      return refuse(deps, { request, reply, provider }, error)
    }
  })

  app.get(linkPath, pageOptions, async (request, reply) => {
    if (request.method === 'HEAD') return reply.send()
    const { token = '' } = textsOf(request.query)
    const binding = request.cookies[linkCookie]
    if (binding === undefined) return sendPage(reply, otherBrowserPage())
    try {
      const link = { token, binding, device: deviceOf(request, 'browser') }
      const signedIn = await inTransaction(deps.db, (trx) => redeemIdentityLink(trx, deps, link, deps.clock()))
      if (signedIn === null) throw new ProviderError('link')
      setSession(deps, reply, signedIn)
      reply.clearCookie(linkCookie, cookieOptions(deps, linkPath))
      return reply.redirect(signedIn.redirectTo ?? '/', 302)
    } catch (error) {
      return refuse(deps, { request, reply, provider: null }, error)
    }
  })

  app.post('/auth/oidc/:id/backchannel-logout', formOptions, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    const provider = await findProvider(deps.db, idOf(request))
    const { logout_token: token } = textsOf(request.body)
    const isForm = mediaTypeOf(request) === 'application/x-www-form-urlencoded'
    try {
      if (provider?.status !== 'active' || token === undefined || !isForm) throw new ProviderError('logout_request')
      await endByLogoutToken(deps, provider, token)
      return reply.code(200).send()
    } catch (error) {
      if (await hasFailedTooOften(deps, request, reply)) return reply
      await recordRefusal(deps, { request, provider }, error)
      return reply.code(400).type('application/json').send({ error: 'invalid_request' })
    }
  })
}

type Visit = { request: FastifyRequest; reply: FastifyReply; provider: ProviderRow }

/** @throws ProviderError when the answer opens no session */
async function takeAnswer(deps: Deps, { request, reply, provider }: Visit): Promise<FastifyReply> {
  const { state = '' } = textsOf(request.query)
  const name = cookieOf(state)
  const { search } = new URL(request.url, 'http://own.invalid')
  const { begun, token } = await readProviderAnswer(deps, provider, { state, search, cookie: request.cookies[name] })
  reply.clearCookie(name, cookieOptions(deps, pathsOf(provider.id).callback))
  const now = deps.clock()
  if (begun.isTrial) {
    const caller = await authorOf(deps, request, provider)
    const email = emailOf(provider, token)
    await inTransaction(deps.db, (trx) =>
      noteTrial(trx, provider.id, { email, settings: begun.settings, by: { caller, now } }),
    )
    return reply.redirect('/platform?part=sign-in', 302)
  }
  const binding = newSecret()
  const arrival = { providerId: provider.id, token, binding, redirectTo: begun.redirectTo }
  const result = await inTransaction(deps.db, (trx) =>
    signInByProvider(trx, deps, { ...arrival, device: deviceOf(request, 'browser') }, now),
  )
  if (result === 'waits') {
    reply.setCookie(linkCookie, binding, cookieOptions(deps, linkPath))
    return sendPage(reply, linkSentPage(provider.name))
  }
  setSession(deps, reply, result)
  return reply.redirect(begun.redirectTo ?? '/', 302)
}

/** Returns the platform administrator who tries their own draft. @throws ProviderError for everybody else */
async function authorOf(deps: Deps, request: FastifyRequest, provider: ProviderRow): Promise<Caller> {
  const caller = (await findSignedIn(deps, request))?.caller
  if (caller?.isPlatformAdmin !== true || caller.userId !== provider.created_by_id)
    throw new ProviderError('provider_not_active')
  return caller
}

/** Leads back to the form, with one sentence and the id of the request. The log and the record have the reason. */
async function refuse(
  deps: Deps,
  { request, reply, provider }: Omit<Visit, 'provider'> & { provider: ProviderRow | null },
  error: unknown,
): Promise<FastifyReply> {
  if (await hasFailedTooOften(deps, request, reply)) return reply
  await recordRefusal(deps, { request, provider }, error)
  return reply.redirect(`/sign-in?error=provider&request=${request.id}`, 302)
}

async function recordRefusal(
  deps: Deps,
  { request, provider }: { request: FastifyRequest; provider: ProviderRow | null },
  error: unknown,
): Promise<void> {
  const { reason } = ProviderError.of(error)
  const facts = { reason, providerId: provider?.id }
  const message = 'a sign-in through an identity provider was refused'
  // The answer of a provider may hold tokens, so that only the reason is logged. Any other error is ours.
  if (error instanceof ProviderError) request.log.warn(facts, message)
  else request.log.error({ ...facts, err: error }, message)
  const target = { type: 'identity_provider', id: provider?.id ?? null }
  const details = { reason, requestId: request.id, ip: request.ip }
  const by = { vaultId: null, actorId: null, now: deps.clock() }
  await inTransaction(deps.db, (trx) => audit(trx, by, 'identity_provider.refused', target, details))
}

const idOf = (request: FastifyRequest): string => (request.params as { id: string }).id

/** The provider leads back by a navigation of the browser, with which cookies of `lax` are sent. */
const cookieOptions = ({ publicOrigin }: Pick<Deps, 'publicOrigin'>, path: string): CookieSerializeOptions => ({
  httpOnly: true,
  sameSite: 'lax',
  secure: new URL(publicOrigin()).protocol === 'https:',
  path,
  maxAge: providerSignInMinutes * 60,
})

const linkSentPage = (name: string) =>
  layout(
    'Look into your mail',
    html`<p>You signed in at <strong>${name}</strong>. If your address may sign in here, a link is on its way. Open it in this \
browser within ${String(providerSignInMinutes)} minutes. It is needed once.</p>`,
  )

const otherBrowserPage = () =>
  layout(
    'Not in this browser',
    html`<p>This link works in the browser in which you signed in at your provider, within ${String(providerSignInMinutes)} \
minutes. If you did not sign in there, close this page: nothing has happened.</p>`,
  )
