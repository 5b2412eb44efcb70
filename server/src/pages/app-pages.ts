import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticated } from '../access/authenticate.ts'
import type { Member } from '../access/caller.ts'
import type { Deps } from '../deps.ts'
import { contentPolicy } from '../http/content-policy.ts'
import type { App } from '../http/endpoints.ts'
import { appPaths } from '../lib/app-paths.ts'
import { type Html, html } from '../lib/html.ts'
import { formatMinute } from '../lib/period.ts'
import { toTransfer } from '../modules/money/transfers/present.ts'
import { findTransfer } from '../modules/money/transfers/queries.ts'
import { describeAgent } from '../modules/people/sign-in/devices.ts'
import { listSessions } from '../modules/people/sign-in/queries.ts'
import { findAnnouncedChange } from '../modules/record/notifications/queries.ts'
import { toApprovalRequest } from '../modules/rules/approval-requests/present.ts'
import { findRequest } from '../modules/rules/approval-requests/queries.ts'
import { findSignedIn, layout, pageOptions, sendPage, when } from './layout.ts'

const sessionsShown = 20

type Ids = { code?: string; id?: string }
type Find = (signedIn: Authenticated, ids: { code: string; id: string }, now: Date) => Promise<Html | null>

/**
 * The pages that mails lead to: each shows the essentials of one thing, as far as the person whose session the browser has
 * may see it. Without a session they lead to the sign-in and back, whether or not the thing exists.
 */
export function registerAppPages(app: App, deps: Deps): void {
  const { db } = deps
  const page = (path: string, find: Find) =>
    app.get(path, pageOptions, (request, reply) => answer(deps, request, reply, find))

  page(appPaths.transfer(':code', ':id'), async ({ member }, { code, id }) => {
    const row = member === null ? null : await findTransfer(db, member, id)
    return row === null ? null : transferPage(toTransfer(row), code)
  })
  page(appPaths.approvalRequest(':code', ':id'), async ({ member }, { code, id }, now) => {
    const row = member === null ? null : await findRequest(db, member, id)
    return row === null ? null : requestPage(toApprovalRequest(row, now), code, member as Member)
  })
  page(appPaths.change(':code', ':id'), async ({ caller }, { code, id }) => {
    const change = await findAnnouncedChange(db, { vaultCode: code, auditRecordId: id, userId: caller.userId })
    return change === null ? null : changePage(change)
  })
  page(appPaths.change(null, ':id'), async ({ caller }, { id }) => {
    const change = await findAnnouncedChange(db, { vaultCode: null, auditRecordId: id, userId: caller.userId })
    return change === null ? null : changePage(change)
  })
  page(appPaths.sessions(), async ({ caller }, _ids, now) => {
    const sessions = await listSessions(db, caller.userId, { after: null, limit: sessionsShown }, now)
    return sessionsPage(sessions.slice(0, sessionsShown), caller.sessionId)
  })
}

async function answer(deps: Deps, request: FastifyRequest, reply: FastifyReply, find: Find): Promise<FastifyReply> {
  const { code = '', id = '' } = request.params as Ids
  const signedIn = await findSignedIn(deps, request, code === '' ? null : code)
  if (signedIn === null) {
    const path = request.url.split('?')[0]!
    return reply.redirect(`/sign-in?redirectTo=${encodeURIComponent(path)}`, 302)
  }
  reply.header('content-security-policy', contentPolicy({ showsLogos: true }))
  const page = await find(signedIn, { code, id }, deps.clock())
  return page === null ? sendPage(reply.code(404), absentPage()) : sendPage(reply, page)
}

function absentPage(): Html {
  return appPage('Not found', html`<p>This does not exist, or you may not see it.</p>`)
}

function appPage(title: string, body: Html): Html {
  return layout(title, html`${body}<p><a href="/">Your account and vaults</a></p>`, 'wide')
}

function transferPage(transfer: ReturnType<typeof toTransfer>, code: string): Html {
  const { initiator, counterparty, fromAddress, metadata, approvalRequirements } = transfer
  const path = `/api/v1/vaults/${code}/transfers/${transfer.id}`
  return appPage(
    'Transfer',
    html`${facts([
      ['Vault', transfer.vault.name],
      ['Status', inWords(transfer.status)],
      ['Amount', `${transfer.amountDecimal} ${transfer.asset}`],
      ['Network', transfer.network],
      ['From', fromAddress.address],
      ['To', transfer.toAddress],
      ['Counterparty', counterparty?.name],
      ['Payment purpose', metadata.paymentPurpose],
      ['Note', metadata.note],
      ['Requested by', nameOf(initiator)],
      ['Requested at', moment(transfer.createdAt)],
      ...approvalRequirements.map((each) => ['Approvals', describeApprovals(each)] as Fact),
      ...votesOf(transfer.approvers),
      ['Vote until', transfer.status === 'awaiting_approval' ? moment(transfer.expiresAt) : null],
      ['Confirmed at', moment(transfer.confirmedAt)],
      ['Transaction', transfer.txHash],
      ['Failed because', transfer.failureReason],
      ['Halted because', transfer.haltReason],
    ])}
${when(transfer.status === 'awaiting_approval', voteHint(path))}
<p><a href="${path}">All fields as JSON</a></p>`,
  )
}

function requestPage(request: ReturnType<typeof toApprovalRequest>, code: string, { vault }: Member): Html {
  const path = `/api/v1/vaults/${code}/approval-requests/${request.id}`
  return appPage(
    'Approval request',
    html`${facts([
      ['Vault', vault.name],
      ['Status', inWords(request.status)],
      ['Action', inWords(request.action)],
      ['Requested by', nameOf(request.initiator)],
      ['Requested at', moment(request.createdAt)],
      ...request.requirements.map((each) => ['Approvals', describeApprovals(each)] as Fact),
      ...votesOf(request.approvers),
      ['Vote until', request.status === 'pending' ? moment(request.expiresAt) : null],
      ['Resolved at', moment(request.resolvedAt)],
      ['Failed because', request.failureReason],
    ])}
<h2>What is requested</h2>
<pre>${JSON.stringify(request.payload, null, 2)}</pre>
${when(request.status === 'pending', voteHint(path))}
<p><a href="${path}">All fields as JSON</a></p>`,
  )
}

function changePage({ content, vault_name }: { content: string | null; vault_name: string | null }): Html {
  const place = vault_name === null ? html`of the platform` : html`of the vault <strong>${vault_name}</strong>`
  return appPage(
    'Change',
    html`<p>A change ${place}, as it was announced to you:</p>
<pre>${content ?? 'An earlier version of the service announced this change without its text.'}</pre>`,
  )
}

function sessionsPage(sessions: Awaited<ReturnType<typeof listSessions>>, currentId: string | null): Html {
  return appPage(
    'Your sessions',
    html`<p>Where you are signed in, newest first.</p>
${sessions.map(({ id, user_agent, ip, method, created_at, last_seen_at }) =>
  facts([
    ['Session', id],
    ['Device', `${describeAgent(user_agent)}${id === currentId ? ' (this browser)' : ''}`],
    ['IP address', ip],
    ['Signed in by', method === null ? null : inWords(method)],
    ['Signed in at', formatMinute(created_at)],
    ['Last used', formatMinute(last_seen_at)],
  ]),
)}
<p class="hint">To end a session, send <code>DELETE /api/v1/auth/sessions/{id}</code>.</p>`,
  )
}

type Fact = [name: string, value: string | null | undefined]

/** Facts that are not known are left out. */
function facts(all: Fact[]): Html {
  const rows = all.flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [html`<dt>${name}</dt><dd>${value}</dd>`],
  )
  return html`<dl>${rows}</dl>`
}

function voteHint(path: string): Html {
  return html`<p class="hint">To vote, send <code>POST ${path}/approve</code> or <code>…/reject</code>.</p>`
}

type Requirement = { policyCode: string; threshold: number; approvalsCount: number; bypassed: boolean }

function describeApprovals({ policyCode, threshold, approvalsCount, bypassed }: Requirement): string {
  return `${approvalsCount} of ${threshold} by the policy ${policyCode}${bypassed ? ', waived' : ''}`
}

type Voter = { decision: string | null; votedAt: string | null; user: Named }

function votesOf(approvers: Voter[]): Fact[] {
  return approvers.map(({ decision, votedAt, user }) => [
    'Approver',
    decision === null ? `${nameOf(user)}: no vote yet` : `${nameOf(user)}: ${decision}, ${moment(votedAt)}`,
  ])
}

type Named = { id: string; name: string | null; email: string | null }

/** People choose their own name, but not their address. */
function nameOf({ id, name, email }: Named): string {
  if (name === null) return email ?? id
  return email === null ? name : `${name} (${email})`
}

const inWords = (code: string) => code.replaceAll('_', ' ')
const moment = (time: string | null) => (time === null ? null : formatMinute(new Date(time)))
