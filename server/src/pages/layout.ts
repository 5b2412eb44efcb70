import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Authenticated, authenticate } from '../access/authenticate.ts'
import type { Deps } from '../deps.ts'
import { sessionCookie } from '../http/guard.ts'
import { type Html, html } from '../lib/html.ts'

/** The options of pages. They are not part of the API reference, and each page decides itself about access to its content. */
export const pageOptions = { schema: { hide: true }, config: { access: 'public' as const } }

export function sendPage(reply: FastifyReply, page: Html): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(page.html)
}

/** Returns the person whose session the browser has, as a member of the vault if they are one. A service has no pages. */
export async function findSignedIn(
  deps: Deps,
  request: FastifyRequest,
  vaultCode: string | null = null,
): Promise<Authenticated | null> {
  const token = request.cookies[sessionCookie]
  if (token === undefined || token === '') return null
  const found = await authenticate(deps.db, { token, ip: request.ip }, vaultCode, deps.clock())
  return found === null || found.session === null ? null : found
}

/** Returns the piece if the condition holds, else an empty piece. */
export function when(condition: boolean, piece: Html): Html {
  return condition ? piece : html``
}

export function layout(title: string, body: Html, width: 'narrow' | 'wide' = 'narrow'): Html {
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
<main class="${width}">
<p class="brand"><img src="/assets/icon.svg" alt="" width="28" height="28"> Strongroom</p>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
}
