import { readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import type { App } from '../http/endpoints.ts'
import { isFromOwnOrigin } from '../http/guard.ts'
import { forbidden } from '../lib/errors.ts'
import { type Html, html } from '../lib/html.ts'
import { formBytesMax } from '../lib/limits.ts'
import { formatMinute } from '../lib/period.ts'
import { sha256 } from '../lib/secrets.ts'
import { findInvitedByToken } from '../modules/people/invitations/queries.ts'
import { hasActiveProvider } from '../modules/people/providers/queries.ts'
import { redeemWithCode } from '../modules/people/sign-in/actions.ts'
import { deviceOf, setSession } from '../modules/people/sign-in/cookies.ts'
import { describeAgent } from '../modules/people/sign-in/devices.ts'
import { findMagicLink, findMailedSession, getPerson } from '../modules/people/sign-in/queries.ts'
import { isOwnPath } from '../modules/people/sign-in/redirect.ts'
import { endMailedSession, isKeyToEnd } from '../modules/people/sign-in/sessions.ts'
import { countFailedRequest } from '../modules/people/sign-in/sign-in-limit.ts'
import { sendConsole } from './console.ts'
import { findSignedIn, layout, pageOptions, sendPage, when } from './layout.ts'

/** The options of the plain forms of these pages, which need no script. Only these pages accept their media type. */
export const formOptions = { ...pageOptions, schema: { hide: true, body: { type: 'object', maxProperties: 4 } } }

/**
 * Registers the pages of the sign-in: the form, the code that redeems a link, the signed-in user, and the button that ends a
 * session. They load nothing from other origins and follow the strict content policy of the service.
 */
export function registerPages(app: App, deps: Deps, hasConsole: boolean): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: formBytesMax },
    async (_request: FastifyRequest, body: string) => Object.fromEntries(new URLSearchParams(body)),
  )
  registerForm(app, deps, hasConsole)
  registerConfirmation(app, deps)
  registerEndOfSession(app, deps)

  for (const { name, type } of assets) {
    const content = readFileSync(new URL(`./assets/${name}`, import.meta.url))
    app.get(`/assets/${name}`, pageOptions, (_request, reply) =>
      reply.type(type).header('cache-control', 'public, max-age=300').send(content),
    )
  }
}

function registerForm(app: App, deps: Deps, hasConsole: boolean): void {
  for (const url of ['/', '/sign-in']) {
    app.get(url, pageOptions, async (request, reply) => {
      const { invitation, error, redirectTo, request: requestId = '' } = textsOf(request.query)
      const signedIn = await findSignedIn(deps, request)
      if (signedIn !== null && invitation === undefined) {
        if (hasConsole && url === '/') return sendConsole(request, reply)
        if (hasConsole) return reply.redirect(redirectTo !== undefined && isOwnPath(redirectTo) ? redirectTo : '/', 302)
        return sendPage(reply, signedInPage(await getPerson(deps.db, signedIn.caller.userId)))
      }
      return sendPage(
        reply,
        signInPage({
          invited: invitation === undefined ? null : await findInvitedByToken(deps.db, sha256(invitation)),
          invitation: invitation ?? null,
          redirectTo: redirectTo !== undefined && isOwnPath(redirectTo) ? redirectTo : null,
          linkFailed: error !== undefined && error !== 'provider',
          failedRequest: error === 'provider' && /^[0-9a-f-]{36}$/.test(requestId) ? requestId : null,
          hasProviders: await hasActiveProvider(deps.db),
          mailsToFiles: deps.config.smtpUrl === null,
        }),
      )
    })
  }
}

function registerConfirmation(app: App, deps: Deps): void {
  app.get('/sign-in/confirm', pageOptions, async (request, reply) => {
    const { token = '' } = textsOf(request.query)
    const link = await findMagicLink(deps.db, token, deps.clock())
    return link === null ? refuse(deps, request, reply) : sendConfirmPage(reply, { token, ...link, fault: null })
  })

  app.post('/sign-in/confirm', formOptions, async (request, reply) => {
    // Another site must not be able to sign a user in to an account of its choice.
    if (!isFromOwnOrigin(deps, request))
      throw forbidden('foreign_origin', 'This form is for the sign-in page of this origin only')
    const { token = '', code = '' } = textsOf(request.body)
    const typed = code.replaceAll(/\s/g, '')
    const link = await findMagicLink(deps.db, token, deps.clock())
    if (link === null) return refuse(deps, request, reply)
    // Text that cannot be a code is not counted, so that a scanner that fills in forms cannot use up the link.
    if (link.asksForCode && !/^\d{6}$/.test(typed)) {
      return sendConfirmPage(reply.code(400), { token, ...link, fault: 'Enter the six digits from the mail.' })
    }
    const device = deviceOf(request, 'browser')
    const result = await inTransaction(deps.db, (trx) =>
      redeemWithCode(trx, deps, { token, code: typed, device }, deps.clock()),
    )
    if (result === null || ('codesLeft' in result && result.codesLeft === 0)) return refuse(deps, request, reply)
    if ('codesLeft' in result) {
      const left = result.codesLeft === 1 ? 'One try is left' : `${result.codesLeft} tries are left`
      const fault = `This is not the code of the mail that you opened. ${left}.`
      if (await hasFailedTooOften(deps, request, reply)) return reply
      return sendConfirmPage(reply.code(401), { token, ...link, fault })
    }
    setSession(deps, reply, result)
    return reply.redirect(result.redirectTo ?? '/', 303)
  })
}

function registerEndOfSession(app: App, deps: Deps): void {
  app.get('/sign-in/end-session', pageOptions, async (request, reply) => {
    const { session = '', key = '' } = textsOf(request.query)
    if (!isKeyToEnd(deps.sealer, session, key)) return refuse(deps, request, reply)
    const found = await findMailedSession(deps.db, session, deps.clock())
    return sendPage(reply, found === null ? sessionEndedPage() : endSessionPage({ session, key, ...found }))
  })

  // The key alone is sufficient: the mail may be opened on any device, and only its recipient has the key.
  app.post('/sign-in/end-session', formOptions, async (request, reply) => {
    const { session = '', key = '' } = textsOf(request.body)
    if (!isKeyToEnd(deps.sealer, session, key)) return refuse(deps, request, reply)
    await inTransaction(deps.db, (trx) => endMailedSession(trx, session, deps.clock()))
    return sendPage(reply, sessionEndedPage())
  })
}

/** Redirects to the form after an invalid link, unless the sender used too many of them. */
async function refuse(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (await hasFailedTooOften(deps, request, reply)) return reply
  return reply.redirect('/sign-in?error=link', request.method === 'GET' ? 302 : 303)
}

export async function hasFailedTooOften(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const refusal = await countFailedRequest(deps, request)
  if (refusal === null) return false
  for (const [name, value] of Object.entries(refusal.headers)) reply.header(name, value)
  sendPage(reply.code(refusal.status), tooOftenPage())
  return true
}

const assets = [
  { name: 'sign-in.js', type: 'text/javascript; charset=utf-8' },
  { name: 'sign-in.css', type: 'text/css; charset=utf-8' },
  { name: 'icon.svg', type: 'image/svg+xml' },
]

/** Returns the parameters of a query or form that occur once. Repeated parameters are ignored, because a page reports no faults. */
export function textsOf(parameters: unknown): Record<string, string | undefined> {
  const entries = Object.entries((parameters ?? {}) as Record<string, unknown>)
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

const alarm = (text: string): Html => html`<p class="note bad" role="alert">${text}</p>`

type SignIn = {
  invited: { email: string; vaultName: string } | null
  invitation: string | null
  redirectTo: string | null
  linkFailed: boolean
  /** The id of the request in which a sign-in through a provider failed. */
  failedRequest: string | null
  hasProviders: boolean
  mailsToFiles: boolean
}

function signInPage(page: SignIn): Html {
  const { invited, invitation, redirectTo, linkFailed, failedRequest, hasProviders, mailsToFiles } = page
  const isOver = invitation !== null && invited === null
  const open = isOver ? '' : (invitation ?? '')
  const marks = when(hasProviders, html` data-providers`)
  return layout(
    'Sign in',
    html`${when(linkFailed, alarm('This sign-in link is used, expired or unknown. Ask for a new one.'))}
${failedRequest === null ? html`` : providerFailed(failedRequest)}
${when(isOver, alarm('This invitation is already accepted or revoked. If you accepted it, sign in.'))}
${invited === null ? html`` : welcome(invited.vaultName)}
<form id="request-link" data-redirect="${redirectTo ?? ''}" data-invitation="${open}"${marks}>
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${invited?.email ?? ''}">
<button type="submit">${hasProviders ? 'Continue' : 'E-mail me a sign-in link'}</button>
</form>
${when(hasProviders, html`<div id="providers" hidden></div>`)}
<button type="button" id="use-passkey" class="plain" hidden>Sign in with a passkey</button>
<p id="status" class="note" role="status" hidden></p>
${when(mailsToFiles, outboxHint)}
<noscript><p class="note bad">Signing in needs JavaScript.</p></noscript>`,
  )
}

const providerFailed = (requestId: string): Html =>
  alarm(`The sign-in through your provider did not work. Try again. Request: ${requestId}`)

const welcome = (vaultName: string): Html => html`<p>You are invited to the vault <strong>${vaultName}</strong>. \
Sign in with your e-mail address to accept.</p>`

const outboxHint = html`<p class="hint">This server sends no mail: each becomes a file in the folder <code>outbox</code> \
of its data directory.</p>`

type Confirmation = { token: string; email: string; asksForCode: boolean; fault: string | null }

/**
 * Sends the page that confirms a sign-in. Its URL contains the token, so the referrer is reduced to the origin, which the
 * form's origin check needs.
 */
function sendConfirmPage(reply: FastifyReply, confirmation: Confirmation): FastifyReply {
  return sendPage(reply.header('referrer-policy', 'strict-origin'), confirmPage(confirmation))
}

function confirmPage({ token, email, asksForCode, fault }: Confirmation): Html {
  const codeField = html`<label for="code">Code from the mail</label>
<input id="code" class="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" \
pattern="\\s*(\\d\\s*){6}" maxlength="16" title="Six digits" required autofocus aria-describedby="code-hint">
<p id="code-hint" class="hint">This browser did not ask for the link, so type the six digits that the mail shows beside it.</p>`
  return layout(
    'Confirm sign-in',
    html`<p>Sign in to Strongroom in this browser as <strong>${email}</strong>?</p>
${fault === null ? html`` : alarm(fault)}
<form method="post" action="/sign-in/confirm">
<input type="hidden" name="token" value="${token}">
${when(asksForCode, codeField)}
<button type="submit">Sign in</button>
</form>
<p class="hint">If this is not your address, or you did not ask for this, close the page.</p>`,
  )
}

type MailedSession = { session: string; key: string } & NonNullable<Awaited<ReturnType<typeof findMailedSession>>>

function endSessionPage({ session, key, user_agent, ip, created_at }: MailedSession): Html {
  const from = ip ?? 'an unknown address'
  return layout(
    'End a session',
    html`<p>This session began at <strong>${formatMinute(created_at)}</strong> from <strong>${from}</strong>, \
with ${describeAgent(user_agent)}.</p>
<form method="post" action="/sign-in/end-session">
<input type="hidden" name="session" value="${session}">
<input type="hidden" name="key" value="${key}">
<button type="submit">End this session</button>
</form>
<p class="hint">It is signed out at once. If it is your own, close this page.</p>`,
  )
}

function sessionEndedPage(): Html {
  return layout(
    'The session has ended',
    html`<p>If it was not your own, somebody may read your mail: secure your mailbox, and inform an administrator of your vaults.</p>`,
  )
}

function tooOftenPage(): Html {
  return layout(
    'Try again later',
    alarm('Too many links and codes from this network did not work. Try again in a quarter of an hour.'),
  )
}

const badge = (text: string): Html => html` <span class="badge">${text}</span>`

function signedInPage({ row, vaults }: Awaited<ReturnType<typeof getPerson>>): Html {
  const items = vaults.map(
    ({ code, name, isAdmin }) =>
      html`<li><strong>${name}</strong> <code>${code}</code>${when(isAdmin, badge('administrator'))}</li>`,
  )
  return layout(
    'You are signed in',
    html`<p>${row.name ?? ''} <span class="quiet">${row.email ?? ''}</span>\
${when(row.is_platform_admin, badge('platform administrator'))}</p>
<h2>Your vaults</h2>
${vaults.length === 0 ? html`<p class="quiet">You are not a member of any vault yet.</p>` : html`<ul>${items}</ul>`}
<p><a class="button" href="/docs">Open the API reference</a></p>
<button type="button" id="sign-out" class="plain">Sign out</button>
<p id="status" class="note" role="status" hidden></p>`,
  )
}
