import { readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { authenticate } from '../access/authenticate.ts'
import type { Deps } from '../deps.ts'
import { sessionCookie } from '../http/guard.ts'
import type { App } from '../http/route.ts'
import { type Html, html } from '../lib/html.ts'
import { sha256 } from '../lib/secrets.ts'
import { findMagicLink, getPerson } from '../modules/auth/queries.ts'
import { isOwnPath } from '../modules/auth/redirect.ts'
import { findInvitedByToken } from '../modules/invitations/queries.ts'

/**
 * The few pages that signing in needs, rendered here: the form, the button that uses up a link, and who is signed in.
 * They work without anything from elsewhere, under the strict content policy of the service.
 */
export function registerPages(app: App, deps: Deps): void {
  const options = { schema: { hide: true }, config: { access: 'public' as const } }

  for (const url of ['/', '/sign-in']) {
    app.get(url, options, async (request, reply) => {
      const { invitation, error, redirectTo } = textQuery(request)
      const userId = await findSignedInUserId(deps, request)
      if (userId !== null && invitation === undefined) {
        return sendPage(reply, signedInPage(await getPerson(deps.db, userId)))
      }
      return sendPage(
        reply,
        signInPage({
          invited: invitation === undefined ? null : await findInvitedByToken(deps.db, sha256(invitation)),
          invitation: invitation ?? null,
          redirectTo: redirectTo !== undefined && isOwnPath(redirectTo) ? redirectTo : null,
          linkFailed: error !== undefined,
          mailsToFiles: deps.config.smtpUrl === null,
        }),
      )
    })
  }

  app.get('/sign-in/confirm', options, async (request, reply) => {
    const { token } = textQuery(request)
    const link = token === undefined ? null : await findMagicLink(deps.db, token, deps.clock())
    if (token === undefined || link === null) return reply.redirect('/sign-in?error=link', 302)
    return sendPage(reply, confirmPage({ token, email: link.email, redirectTo: link.redirect_to ?? '/' }))
  })

  for (const { name, type } of assets) {
    const content = readFileSync(new URL(`./assets/${name}`, import.meta.url))
    app.get(`/assets/${name}`, options, (_request, reply) =>
      reply.type(type).header('cache-control', 'public, max-age=300').send(content),
    )
  }
}

const assets = [
  { name: 'sign-in.js', type: 'text/javascript; charset=utf-8' },
  { name: 'sign-in.css', type: 'text/css; charset=utf-8' },
  { name: 'icon.svg', type: 'image/svg+xml' },
]

/** The query parameters that are given once; a page has no use for a fault in its address. */
function textQuery(request: FastifyRequest): Record<string, string | undefined> {
  const query = request.query as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(query).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

async function findSignedInUserId(deps: Deps, request: FastifyRequest): Promise<string | null> {
  const token = request.cookies[sessionCookie]
  if (token === undefined || token === '') return null
  const found = await authenticate(deps.db, token, null, deps.clock())
  return found?.caller.userId ?? null
}

function sendPage(reply: FastifyReply, page: Html): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(page.html)
}

function signInPage({
  invited,
  invitation,
  redirectTo,
  linkFailed,
  mailsToFiles,
}: {
  invited: { email: string; vaultName: string } | null
  invitation: string | null
  redirectTo: string | null
  linkFailed: boolean
  mailsToFiles: boolean
}): Html {
  const isOver = invitation !== null && invited === null
  return layout(
    'Sign in',
    html`${when(linkFailed, html`<p class="note bad" role="alert">This sign-in link is used, expired or unknown. Ask for a new one.</p>`)}
${when(isOver, html`<p class="note bad" role="alert">This invitation is accepted or revoked already. If you accepted it, sign in.</p>`)}
${invited === null ? html`` : html`<p>You are invited to the vault <strong>${invited.vaultName}</strong>. Sign in with your e-mail address to accept.</p>`}
<form id="request-link" data-redirect="${redirectTo ?? ''}" data-invitation="${isOver ? '' : (invitation ?? '')}">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${invited?.email ?? ''}">
<button type="submit">E-mail me a sign-in link</button>
</form>
<p id="status" class="note" role="status" hidden></p>
${when(mailsToFiles, html`<p class="hint">This server sends no mail: each becomes a file in the folder <code>outbox</code> of its data directory.</p>`)}
<noscript><p class="note bad">Signing in needs JavaScript.</p></noscript>`,
  )
}

function confirmPage({ token, email, redirectTo }: { token: string; email: string; redirectTo: string }): Html {
  return layout(
    'Confirm sign-in',
    html`<p>Sign in to Strongroom in this browser as <strong>${email}</strong>?</p>
<button type="button" id="confirm" data-token="${token}" data-redirect="${redirectTo}">Sign in</button>
<p id="status" class="note" role="status" hidden></p>
<p class="hint">If this is not your address, or you did not ask for this, close the page.</p>
<noscript><p class="note bad">Signing in needs JavaScript.</p></noscript>`,
  )
}

function signedInPage({ row, vaults }: Awaited<ReturnType<typeof getPerson>>): Html {
  const items = vaults.map(
    ({ code, name, isAdmin }) =>
      html`<li><strong>${name}</strong> <code>${code}</code>${when(isAdmin, html` <span class="badge">administrator</span>`)}</li>`,
  )
  return layout(
    'You are signed in',
    html`<p>${row.name ?? ''} <span class="quiet">${row.email ?? ''}</span>${when(row.is_platform_admin, html` <span class="badge">platform administrator</span>`)}</p>
<h2>Your vaults</h2>
${vaults.length === 0 ? html`<p class="quiet">You are not a member of any vault yet.</p>` : html`<ul>${items}</ul>`}
<p><a class="button" href="/docs">Open the API reference</a></p>
<button type="button" id="sign-out" class="plain">Sign out</button>
<p id="status" class="note" role="status" hidden></p>`,
  )
}

function when(condition: boolean, piece: Html): Html {
  return condition ? piece : html``
}

function layout(title: string, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Strongroom</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/sign-in.css">
<script src="/assets/sign-in.js" defer></script>
</head>
<body>
<main>
<p class="brand"><img src="/assets/icon.svg" alt="" width="28" height="28"> Strongroom</p>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
}
