import { type Html, html } from '../lib/html.ts'
import { formatMinute } from '../lib/period.ts'

export type Message = { subject: string; text: string; html: string }

export function magicLinkMessage({
  link,
  code,
  ttlMinutes,
}: {
  link: string
  code: string
  ttlMinutes: number
}): Message {
  return toMessage({
    subject: 'Your sign-in link for Strongroom',
    lines: [
      `Follow this link within ${ttlMinutes} minutes to sign in. It works once.`,
      `In another browser, or on another device, it asks for this code: ${code}`,
    ],
    button: 'Sign in',
    link,
    closing:
      'Type the code nowhere but on the page that this link opens. If you did not ask to sign in, ignore this mail: nothing happens without the link.',
  })
}

/** Tells of a sign-in from a device that is new, or by a link that an operator made. */
export function signInMessage({
  signedInAt,
  agent,
  ip,
  network,
  isByOperatorLink,
  link,
}: {
  signedInAt: Date
  agent: string
  ip: string
  network: string
  isByOperatorLink: boolean
  link: string
}): Message {
  const by = isByOperatorLink ? 'by a link that an operator of the service made' : 'from a new device'
  return toMessage({
    subject: 'New sign-in to Strongroom',
    lines: [
      `Somebody signed in as you ${by}.`,
      `Time: ${formatMinute(signedInAt)}`,
      `Device: ${agent}`,
      `Address: ${ip} (network ${network})`,
      'If this was you, there is nothing to do. If it was not, end the session at once, and tell an administrator: somebody may read your mail.',
    ],
    button: 'End this session',
    link,
    closing: 'This mail cannot be switched off.',
  })
}

export function operatorLinkMessage({
  operator,
  createdAt,
  link,
}: {
  operator: string
  createdAt: Date
  link: string
}): Message {
  return toMessage({
    subject: 'An operator made a sign-in link for you',
    lines: [
      `An operator of the service made a link that signs in as you: ${operator}, at ${formatMinute(createdAt)}.`,
      'If you asked for it because your mail did not arrive, there is nothing to do. If you did not, ask why: it is on the audit record, and you are told when the link is used.',
    ],
    button: 'Open Strongroom',
    link,
    closing: 'This mail cannot be switched off.',
  })
}

export function invitationMessage({
  link,
  vaultName,
  inviter,
}: {
  link: string
  vaultName: string
  inviter: string
}): Message {
  return toMessage({
    subject: `You are invited to the vault ${vaultName}`,
    lines: [
      `${inviter} invites you to the vault ${vaultName} on Strongroom.`,
      'Sign in with this e-mail address to accept.',
    ],
    button: 'Accept the invitation',
    link,
    closing: 'If you do not know what this is about, ignore this mail.',
  })
}

type Waiting = { subject: string; vaultName: string; initiator: string; link: string }

export function approvalNeededMessage({ subject, vaultName, initiator, link }: Waiting): Message {
  return toMessage({
    subject: `Your vote is needed in ${vaultName}: ${subject}`,
    lines: [`${initiator} asks for the ${subject} in the vault ${vaultName}.`, 'It waits for votes, yours among them.'],
    button: 'Open Strongroom',
    link,
    closing:
      'Compare what you see there with what you expect before you vote. You can switch these mails off in your profile.',
  })
}

export function decidedMessage({ subject, vaultName, status, link }: Waiting & { status: string }): Message {
  const outcome = status.replaceAll('_', ' ')
  return toMessage({
    subject: `Decided in ${vaultName}: ${subject} is ${outcome}`,
    lines: [`The ${subject} that you asked for in the vault ${vaultName} was decided: it is ${outcome}.`],
    button: 'Open Strongroom',
    link,
    closing: 'You can switch these mails off in your profile.',
  })
}

export function stoppedMessage({ subject, vaultName, initiator, link, reason }: Waiting & { reason: string }): Message {
  return toMessage({
    subject: `Stopped in ${vaultName}: ${subject}`,
    lines: [
      `Strongroom stopped the ${subject} in the vault ${vaultName}, which ${initiator} had asked for.`,
      `The reason: ${reason}`,
    ],
    button: 'Open Strongroom',
    link,
    closing:
      "You receive this mail as an administrator or as the initiator; it cannot be switched off. Check the vault's audit log. If database rows were changed, somebody has unauthorised access.",
  })
}

/** @param vault null: changes of the platform, such as of a token */
export function announcementMessage({
  vault,
  changes,
  origin,
}: {
  vault: { code: string; name: string } | null
  /** The content is null where it was not put into words. */
  changes: { content: string | null; auditRecordId: string }[]
  origin: string
}): Message {
  return toMessage({
    subject: vault === null ? 'Changes to the Strongroom platform' : `Changes to the vault ${vault.name}`,
    lines: [
      vault === null
        ? `The following was changed on the Strongroom platform at ${origin}.`
        : `The following was changed in the vault ${vault.name} (${vault.code}) at ${origin}.`,
      ...changes.map(({ content, auditRecordId }) => content ?? `A change was made.\nAudit record: ${auditRecordId}`),
      vault === null
        ? 'Each change is in the audit log of the platform, under the number of its audit record.'
        : `Each change is in the audit log of the vault, GET /api/v1/vaults/${vault.code}/audit-log, under the number of its audit record.`,
    ],
    button: 'Open Strongroom',
    link: origin,
    closing:
      'You receive this mail because the change affects something you administer, own or vote on, or your rights. It cannot be switched off. If you did not expect a change, ask the person who made it.',
  })
}

function toMessage({
  subject,
  lines,
  button,
  link,
  closing,
}: {
  subject: string
  lines: string[]
  button: string
  link: string
  closing: string
}): Message {
  const paragraphs: Html[] = lines.map((line) => html`<p style="white-space:pre-line">${line}</p>`)
  const body = html`<!doctype html>
<html lang="en"><body style="font-family:sans-serif;line-height:1.5;color:#16202e;max-width:34rem">
${paragraphs}
<p><a href="${link}" style="display:inline-block;padding:.6rem 1.2rem;background:#1d4ed8;color:#fff;border-radius:.4rem;text-decoration:none">${button}</a></p>
<p style="font-size:.85rem;color:#56606e">Or copy this address into your browser:<br>${link}</p>
<p style="font-size:.85rem;color:#56606e">${closing}</p>
</body></html>
`
  return { subject, text: [...lines, link, closing].join('\n\n').concat('\n'), html: body.html }
}
