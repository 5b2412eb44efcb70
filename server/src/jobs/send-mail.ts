import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { magicLinkTtlMinutes } from '../lib/limits.ts'
import { mailerOf } from '../mail/mailer-of.ts'
import { invitationMessage, magicLinkMessage, personText } from '../mail/messages.ts'
import type { Mail } from '../mail/transport.ts'
import { issueMagicLink, type MagicLinkRequest } from '../modules/auth/actions.ts'
import { findInvitationToMail } from '../modules/invitations/queries.ts'

type InvitationMail = { kind: 'invitation'; vaultId: string; invitationId: string }

/**
 * Sends one mail. It may run again after a crash between the sending and the end of the job; the repeated mail then
 * carries the same Message-ID. What became pointless meanwhile is not sent.
 */
export async function sendMail(deps: Deps, data: object): Promise<void> {
  const job = data as MagicLinkRequest | InvitationMail
  const mail = job.kind === 'magic-link' ? await composeMagicLink(deps, job) : await composeInvitation(deps, job)
  if (mail === null) return
  try {
    await mailerOf(deps.config).send(mail)
  } catch (error) {
    if (!isRefusedForGood(error)) throw error
    deps.log.warn({ mailId: mail.id, responseCode: error.responseCode }, 'the mail server refused a mail for good')
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
  const token = await inTransaction(deps.db, (trx) => issueMagicLink(trx, request, now))
  if (token === null) return null
  const link = `${deps.publicOrigin()}/api/v1/auth/magic-link/verify?token=${token}`
  return {
    id: request.mailId,
    date: requestedAt,
    to: request.email,
    ...magicLinkMessage({ link, ttlMinutes: magicLinkTtlMinutes }),
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
      inviter: personText({ name: found.inviterName, email: found.inviterEmail }),
    }),
  }
}

/** A 5xx reply of SMTP is permanent (RFC 5321, 4.2.1): repeating the mail would only be refused again. */
function isRefusedForGood(error: unknown): error is { responseCode: number } {
  const code = (error as { responseCode?: unknown } | null)?.responseCode
  // 535 and its neighbours blame our own credentials, which the operator can mend while the job is retried.
  return typeof code === 'number' && code >= 550 && code < 560
}
