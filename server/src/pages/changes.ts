import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticated } from '../access/authenticate.ts'
import type { Deps } from '../deps.ts'
import { contentPolicy } from '../http/content-policy.ts'
import type { App } from '../http/endpoints.ts'
import { consolePaths } from '../lib/console-paths.ts'
import { type Html, html } from '../lib/html.ts'
import { findAnnouncedChange } from '../modules/record/notifications/queries.ts'
import { findSignedIn, layout, pageOptions, sendPage } from './layout.ts'

/**
 * Registers the pages of announced changes, in the words of their announcements. They are pages of the service and not of the
 * console, because a recipient of the mail may have lost the right to read the audit log with that change.
 */
export function registerChangePages(app: App, deps: Deps): void {
  for (const path of [consolePaths.change(':code', ':id'), consolePaths.change(null, ':id')]) {
    app.get(path, pageOptions, (request, reply) => sendChange(deps, request, reply))
  }
}

/** Sends the page of a change. Without a session it leads to the sign-in and back, for existing and unknown changes alike. */
async function sendChange(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { code, id } = request.params as { code?: string; id: string }
  // The subject of the change may have a logo.
  reply.header('content-security-policy', contentPolicy({ showsLogos: true }))
  const signedIn: Authenticated | null = await findSignedIn(deps, request)
  if (signedIn === null) {
    const path = request.url.split('?')[0]!
    return reply.redirect(`/sign-in?redirectTo=${encodeURIComponent(path)}`, 302)
  }
  const change = await findAnnouncedChange(deps.db, {
    vaultCode: code ?? null,
    auditRecordId: id,
    userId: signedIn.caller.userId,
  })
  return change === null ? sendPage(reply.code(404), absentPage()) : sendPage(reply, changePage(change))
}

function absentPage(): Html {
  return page('Not found', html`<p>This does not exist, or you may not see it.</p>`)
}

function changePage({ content, vault_name }: { content: string | null; vault_name: string | null }): Html {
  const place = vault_name === null ? html`of the platform` : html`of the vault <strong>${vault_name}</strong>`
  return page(
    'Change',
    html`<p>A change ${place}, as it was announced to you:</p>
<pre>${content ?? 'An earlier version of the service announced this change without its text.'}</pre>`,
  )
}

function page(title: string, body: Html): Html {
  return layout(title, html`${body}<p><a href="/">Your account and vaults</a></p>`, 'wide')
}
