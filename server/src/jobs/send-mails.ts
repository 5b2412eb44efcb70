import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { consolePaths } from '../lib/console-paths.ts'
import { magicLinkTtlMinutes, mailBackoff } from '../lib/limits.ts'
import { networkOf } from '../lib/sender.ts'
import {
  identityLinkMessage,
  invitationMessage,
  magicLinkMessage,
  operatorLinkMessage,
  passkeyMessage,
  signInMessage,
} from '../mail/messages.ts'
import { claimMails, deleteMail, type QueuedMail, retryMail } from '../mail/queue.ts'
import { sendMail } from '../mail/send.ts'
import type { Mail } from '../mail/transport.ts'
import { findInvitationToMail } from '../modules/people/invitations/queries.ts'
import { openToken } from '../modules/people/invitations/token.ts'
import type { PasskeyNotice } from '../modules/people/passkeys/actions.ts'
import { issueIdentityLink } from '../modules/people/provider-sign-in/link.ts'
import type { IdentityLinkRequest } from '../modules/people/provider-sign-in/sign-in.ts'
import { issueMagicLink, type MagicLinkRequest, type OperatorLinkNotice } from '../modules/people/sign-in/actions.ts'
import { describeAgent } from '../modules/people/sign-in/devices.ts'
import { keyToEnd, type SignInNotice } from '../modules/people/sign-in/sessions.ts'
import { type Claims, runClaims } from './run-claims.ts'

type InvitationMail = { kind: 'invitation'; vaultId: string; invitationId: string }
type MailRequest =
  | MagicLinkRequest
  | InvitationMail
  | SignInNotice
  | OperatorLinkNotice
  | PasskeyNotice
  | IdentityLinkRequest

const queuedMails: Claims<QueuedMail> = {
  name: 'mail',
  claim: ({ db, clock }, limit) => claimMails(db, limit, clock()),
  run: sendQueuedMail,
  retry: ({ db }, mail, at) => retryMail(db, mail, at),
  backoff: mailBackoff,
}

/** Sends the queued mails that are due. @returns true if all due mails are sent */
export function sendMails(deps: Deps, signal?: AbortSignal): Promise<boolean> {
  return runClaims(deps, queuedMails, signal)
}

/**
 * Sends a queued mail, unless it is no longer needed, and removes it from the queue. After a crash before the removal it is sent
 * again, with the same Message-ID.
 */
async function sendQueuedMail(deps: Deps, { id, request }: QueuedMail, signal?: AbortSignal): Promise<void> {
  const mail = await compose(deps, request as MailRequest)
  if (mail !== null) await sendMail(deps, mail, signal)
  await deleteMail(deps.db, id)
}

function compose(deps: Deps, request: MailRequest): Promise<Mail | null> | Mail {
  switch (request.kind) {
    case 'magic-link':
      return composeMagicLink(deps, request)
    case 'identity-link':
      return composeIdentityLink(deps, request)
    case 'invitation':
      return composeInvitation(deps, request)
    case 'sign-in':
      return composeSignIn(deps, request)
    case 'operator-link':
      return composeOperatorLink(deps, request)
    case 'passkey':
      return composePasskey(deps, request)
  }
}

/**
 * Composes the mail with a sign-in link, or returns null when the e-mail address may not sign in. This is decided here, because the
 * request must take equally long for every address. The link is created here, too, so that the queue stores no token.
 */
async function composeMagicLink(deps: Deps, request: MagicLinkRequest): Promise<Mail | null> {
  const now = deps.clock()
  const requestedAt = new Date(request.requestedAt)
  // The mail server may have been down for longer than the life of a link.
  if (now.getTime() - requestedAt.getTime() > magicLinkTtlMinutes * 60_000) return null
  const issued = await inTransaction(deps.db, (trx) => issueMagicLink(trx, deps, request, now))
  if (issued === null) return null
  const link = `${deps.publicOrigin()}/api/v1/auth/magic-link/verify?token=${issued.token}`
  return {
    id: request.mailId,
    date: requestedAt,
    to: request.email,
    ...magicLinkMessage({ link, code: issued.code, ttlMinutes: magicLinkTtlMinutes }),
  }
}

/** Composes the mail with the link that links an identity, or returns null when the e-mail address gets no such link. */
async function composeIdentityLink(deps: Deps, request: IdentityLinkRequest): Promise<Mail | null> {
  const now = deps.clock()
  const requestedAt = new Date(request.requestedAt)
  if (now.getTime() - requestedAt.getTime() > magicLinkTtlMinutes * 60_000) return null
  const issued = await inTransaction(deps.db, (trx) => issueIdentityLink(trx, request, now))
  if (issued === null) return null
  const { providerName } = issued
  const link = `${deps.publicOrigin()}/auth/oidc/link?token=${issued.token}`
  return {
    id: request.mailId,
    date: requestedAt,
    to: request.email,
    ...identityLinkMessage({ link, providerName, ttlMinutes: magicLinkTtlMinutes }),
  }
}

async function composeInvitation(deps: Deps, { vaultId, invitationId }: InvitationMail): Promise<Mail | null> {
  const found = await findInvitationToMail(deps.db, vaultId, invitationId)
  if (found === null) return null
  const token = openToken(deps.sealer, { ...found, vault_id: vaultId, id: invitationId })
  return {
    id: invitationId,
    date: found.created_at,
    to: found.email,
    ...invitationMessage({
      link: `${deps.publicOrigin()}/sign-in?invitation=${token}`,
      vaultName: found.vaultName,
      inviter: found.inviter,
    }),
  }
}

function composeSignIn(deps: Deps, { sessionId, email, method, userAgent, ip, signedInAt }: SignInNotice): Mail {
  const query = new URLSearchParams({ session: sessionId, key: keyToEnd(deps.sealer, sessionId) })
  return {
    id: `${sessionId}-sign-in`,
    date: new Date(signedInAt),
    to: email,
    ...signInMessage({
      signedInAt: new Date(signedInAt),
      agent: describeAgent(userAgent),
      ip,
      network: networkOf(ip),
      isByOperatorLink: method === 'operator_link',
      link: `${deps.publicOrigin()}/sign-in/end-session?${query}`,
    }),
  }
}

function composeOperatorLink(deps: Deps, { mailId, email, operator, createdAt }: OperatorLinkNotice): Mail {
  return {
    id: mailId,
    date: new Date(createdAt),
    to: email,
    ...operatorLinkMessage({
      operator,
      createdAt: new Date(createdAt),
      link: `${deps.publicOrigin()}${consolePaths.sessions()}`,
    }),
  }
}

function composePasskey(deps: Deps, { mailId, email, changedAt, ...facts }: PasskeyNotice): Mail {
  const link = `${deps.publicOrigin()}${consolePaths.sessions()}`
  return {
    id: mailId,
    date: new Date(changedAt),
    to: email,
    ...passkeyMessage({ ...facts, changedAt: new Date(changedAt), link }),
  }
}
