import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { magicLinkTtlMinutes } from '../lib/limits.ts'
import { networkOf } from '../lib/sender.ts'
import { mailerOf } from '../mail/mailer-of.ts'
import { invitationMessage, magicLinkMessage, operatorLinkMessage, signInMessage } from '../mail/messages.ts'
import type { Mail } from '../mail/transport.ts'
import { findInvitationToMail } from '../modules/people/invitations/queries.ts'
import { issueMagicLink, type MagicLinkRequest, type OperatorLinkNotice } from '../modules/people/sign-in/actions.ts'
import { describeAgent } from '../modules/people/sign-in/describe-agent.ts'
import { keyToEnd, type SignInNotice } from '../modules/people/sign-in/sessions.ts'

type InvitationMail = { kind: 'invitation'; vaultId: string; invitationId: string }
type MailJob = MagicLinkRequest | InvitationMail | SignInNotice | OperatorLinkNotice

/**
 * Sends one mail. It may run again after a crash between the sending and the end of the job; the repeated mail then
 * carries the same Message-ID. What became pointless meanwhile is not sent.
 */
export async function sendMail(deps: Deps, data: object): Promise<void> {
  const mail = await compose(deps, data as MailJob)
  if (mail === null) return
  try {
    await mailerOf(deps.config).send(mail)
  } catch (error) {
    if (!isRefusedForGood(error)) throw error
    deps.log.warn({ mailId: mail.id, responseCode: error.responseCode }, 'the mail server refused a mail for good')
  }
}

function compose(deps: Deps, job: MailJob): Promise<Mail | null> | Mail {
  switch (job.kind) {
    case 'magic-link':
      return composeMagicLink(deps, job)
    case 'invitation':
      return composeInvitation(deps, job)
    case 'sign-in':
      return composeSignIn(deps, job)
    case 'operator-link':
      return composeOperatorLink(deps, job)
  }
}

/**
 * Only here is decided whether the e-mail address may sign in, so that the request does the same work for every address;
 * and only here is the link made, so that no token is ever in the job table.
 */
async function composeMagicLink(deps: Deps, request: MagicLinkRequest): Promise<Mail | null> {
  const now = deps.clock()
  const requestedAt = new Date(request.requestedAt)
  // After an outage of the mail server nobody waits for this link any more.
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

async function composeInvitation(deps: Deps, { vaultId, invitationId }: InvitationMail): Promise<Mail | null> {
  const found = await findInvitationToMail(deps.db, vaultId, invitationId)
  if (found === null) return null
  const token = deps.sealer.open(found.token_sealed)
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
    ...operatorLinkMessage({ operator, createdAt: new Date(createdAt), link: deps.publicOrigin() }),
  }
}

/** A 5xx reply of SMTP is permanent (RFC 5321, 4.2.1): repeating the mail would only be refused again. */
function isRefusedForGood(error: unknown): error is { responseCode: number } {
  const code = (error as { responseCode?: unknown } | null)?.responseCode
  // 535 and its neighbours blame our own credentials, which the operator can mend while the job is retried.
  return typeof code === 'number' && code >= 550 && code < 560
}
