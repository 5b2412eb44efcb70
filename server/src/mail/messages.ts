import { type Html, html } from '../lib/html.ts'
import { formatDecimal } from '../lib/money.ts'
import { formatMinute } from '../lib/period.ts'

// This file has the subjects and texts of all mails. Each function takes the facts and returns the mail.

export type Message = { subject: string; text: string; html: string }

/** A paragraph, as a text or as a list of its sentences. */
type Paragraph = string | string[]

type Parts = { subject: string; lines: Paragraph[]; button: string; link: string; closing: Paragraph }

const buttonStyle =
  'display:inline-block;padding:.6rem 1.2rem;background:#1d4ed8;color:#fff;border-radius:.4rem;text-decoration:none'

/** Returns the plain text and the HTML of a mail. All texts are escaped. */
function layOut({ subject, lines, button, link, closing }: Parts): Message {
  const paragraphs: Html[] = lines.map(textOf).map((line) => html`<p style="white-space:pre-line">${line}</p>`)
  const body = html`<!doctype html>
<html lang="en"><body style="font-family:sans-serif;line-height:1.5;color:#16202e;max-width:34rem;overflow-wrap:anywhere">
${paragraphs}
<p><a href="${link}" style="${buttonStyle}">${button}</a></p>
<p style="font-size:.85rem;color:#56606e">Or copy this address into your browser:<br>${link}</p>
<p style="font-size:.85rem;color:#56606e">${textOf(closing)}</p>
</body></html>
`
  return { subject, text: [...lines.map(textOf), link, textOf(closing)].join('\n\n').concat('\n'), html: body.html }
}

function textOf(paragraph: Paragraph): string {
  return typeof paragraph === 'string' ? paragraph : paragraph.join(' ')
}

const canBeTurnedOff = 'You can turn these mails off in your profile.'
const cannotBeTurnedOff = 'You cannot turn this mail off.'

type MagicLink = { link: string; code: string; ttlMinutes: number }

export function magicLinkMessage({ link, code, ttlMinutes }: MagicLink): Message {
  return layOut({
    subject: 'Your sign-in link for Strongroom',
    lines: [
      `Use this link within ${ttlMinutes} minutes to sign in. It works once.`,
      `If you open it in another browser or on another device, enter this code: ${code}`,
    ],
    button: 'Sign in',
    link,
    closing: [
      'Enter the code only on the page that this link opens.',
      'If you did not ask to sign in, ignore this mail: nobody can sign in without the link.',
    ],
  })
}

type IdentityLink = { link: string; providerName: string; ttlMinutes: number }

export function identityLinkMessage({ link, providerName, ttlMinutes }: IdentityLink): Message {
  return layOut({
    subject: `Sign in to Strongroom through ${providerName}`,
    lines: [
      `Somebody signed in at ${providerName} with your address, for the first time.`,
      `If it was you, open this link within ${ttlMinutes} minutes in the same browser. From then on that account signs you in.`,
    ],
    button: 'Use this account',
    link,
    closing: [
      'In any other browser the link does nothing. Pass it on to nobody.',
      `If it was not you, ignore this mail, and tell whoever runs ${providerName} that an account there has your address.`,
    ],
  })
}

type SignIn = {
  signedInAt: Date
  agent: string
  ip: string
  network: string
  isByOperatorLink: boolean
  link: string
}

/** Reports a sign-in from a new device, or with a link that an operator created. */
export function signInMessage({ signedInAt, agent, ip, network, isByOperatorLink, link }: SignIn): Message {
  const means = isByOperatorLink ? 'with a link that an operator of the service created' : 'from a new device'
  return layOut({
    subject: 'New sign-in to Strongroom',
    lines: [
      `Somebody signed in to your account ${means}.`,
      `Time: ${formatMinute(signedInAt)}`,
      `Device: ${agent}`,
      `IP address: ${ip} (network ${network})`,
      [
        'If this was you, you do not need to do anything.',
        'If it was not, end the session now and inform an administrator: somebody may have access to your mailbox.',
      ],
    ],
    button: 'End this session',
    link,
    closing: cannotBeTurnedOff,
  })
}

type OperatorLink = { operator: string; createdAt: Date; link: string }

export function operatorLinkMessage({ operator, createdAt, link }: OperatorLink): Message {
  return layOut({
    subject: 'An operator created a sign-in link for you',
    lines: [
      `An operator of the service created a link that signs in to your account: ${operator}, at ${formatMinute(createdAt)}.`,
      [
        'If you asked for the link because a mail did not arrive, you do not need to do anything.',
        'If you did not, ask the operator for the reason.',
        'The link is recorded in the audit log, and you get another mail when it is used.',
      ],
    ],
    button: 'See your sessions',
    link,
    closing: cannotBeTurnedOff,
  })
}

type PasskeyChange = {
  change: 'added' | 'removed' | 'waits' | 'allowed'
  name: string
  operator: string | null
  changedAt: Date
  link: string
}

export function passkeyMessage({ change, name, operator, changedAt, link }: PasskeyChange): Message {
  const by = operator === null ? '' : ` by ${operator}, an operator of the service`
  const at = formatMinute(changedAt)
  const what = {
    added: [`A passkey was added`, `The passkey ${name} was added${by}, at ${at}.`],
    removed: [`A passkey was removed`, `The passkey ${name} was removed${by}, at ${at}.`],
    waits: [
      'A passkey waits for a second person',
      `The passkey ${name} was added at ${at}, and waits until an administrator of your vault accepts it.`,
    ],
    allowed: [
      'You may add a passkey',
      `${operator}, an operator of the service, allowed you at ${at} to add your first passkey. You have one hour.`,
    ],
  }[change] as [string, string]
  return layOut({
    subject: what[0],
    lines: [
      what[1],
      [
        'If you did this or asked for it, you do not need to do anything.',
        'If you did not, inform an administrator at once: somebody acts in your name.',
      ],
    ],
    button: 'See your passkeys and sessions',
    link,
    closing: cannotBeTurnedOff,
  })
}

type Heads = { origin: string; at: Date; count: number; block: string }

/** Returns the mail for a mailbox that keeps the heads of the seal chains. `block` is the statement of the heads in armor. */
export function headsMessage({ origin, at, count, block }: Heads): Message {
  return layOut({
    subject: `Heads of the records of ${origin}`,
    lines: [
      `These are the heads of the ${count} seal chains of ${origin}, at ${formatMinute(at)}.`,
      [
        'Keep this mail: nobody who cuts the record or the ledger short, or computes either anew, can bring these heads back.',
        'Save it as a file, and "strongroom audit verify --head FILE" and "strongroom ledger verify --head FILE" compare.',
      ],
      block,
    ],
    button: 'Open Strongroom',
    link: origin,
    closing: 'You get this mail because WITNESSES names this mailbox.',
  })
}

type Invitation = { link: string; vaultName: string; inviter: string }

export function invitationMessage({ link, vaultName, inviter }: Invitation): Message {
  return layOut({
    subject: `You are invited to the vault ${vaultName}`,
    lines: [
      `${inviter} invites you to the vault ${vaultName} on Strongroom.`,
      'To accept the invitation, sign in with this e-mail address.',
    ],
    button: 'Accept the invitation',
    link,
    closing: 'If you do not expect this invitation, ignore this mail.',
  })
}

/** The facts of a mail about a transfer, payout, deposit or approval request. */
export type Notification = {
  kind: 'approval_needed' | 'decided' | 'stopped' | 'stuck' | 'quorum_lost' | 'orphaned'
  vault_name: string
  initiator: string
  /** The requested action, such as `transfer`, `payout` or `counterparty_create`. */
  action: string
  status: string
  /** Null, like the next three fields, when the mail is not about a single transfer or deposit. */
  amount: string | null
  decimals: number | null
  asset: string | null
  to_address: string | null
  /** Set for a payout. */
  rows_count: number | null
  /** The reason for which the transfer was halted or failed. */
  reason: string | null
  /** Set for a deposit: the address that received it. */
  own_address: string | null
  /** Set for a deposit that the chain took back: the part of it that was spent, in raw units. */
  exposed: string | null
}

/** @param link the page of the transfer or approval request */
export function notificationMessage(notification: Notification, link: string): Message {
  return layOut({ ...textsOf(notification), button: buttonOf(notification), link })
}

type Texts = Pick<Parts, 'subject' | 'lines' | 'closing'>

function textsOf(notification: Notification): Texts {
  const { vault_name: vaultName, initiator } = notification
  const subject = describeSubject(notification)
  switch (notification.kind) {
    case 'approval_needed':
      return {
        subject: `Your vote is needed in ${vaultName}: ${subject}`,
        lines: [
          `${initiator} requested the ${subject} in the vault ${vaultName}.`,
          'The request waits for votes. You are one of its approvers.',
        ],
        closing: ['Before you vote, compare what you see in Strongroom with what you expect.', canBeTurnedOff],
      }
    case 'decided': {
      const outcome = describeOutcome(notification.status)
      return {
        subject: `Decided in ${vaultName}: ${subject} is ${outcome}`,
        lines: [`The ${subject} that you requested in the vault ${vaultName} is now ${outcome}.`],
        closing: canBeTurnedOff,
      }
    }
    case 'stuck':
      return {
        subject: `Waiting in ${vaultName}: ${subject}`,
        lines: [
          `The ${subject} that you requested in the vault ${vaultName} waits for its confirmation for longer than usual.`,
          'Its transaction may pay too little. It can be sped up, or cancelled on chain.',
        ],
        closing: 'Do not order it again: it is carried out as soon as its transaction is mined.',
      }
    case 'stopped':
      return {
        subject: `Stopped in ${vaultName}: ${subject}`,
        lines: [
          `Strongroom stopped the ${subject} in the vault ${vaultName}. It was requested by ${initiator}.`,
          `Reason: ${notification.reason ?? 'unknown'}`,
        ],
        closing: [
          'You receive this mail because you are an administrator of the vault or the initiator.',
          'You cannot turn it off.',
          'Check the audit log of the vault.',
          'If database rows were changed, somebody has unauthorised access.',
        ],
      }
    case 'orphaned':
      return orphanTexts(notification)
    case 'quorum_lost':
      return {
        subject: `Too few people can vote in ${vaultName}: ${subject}`,
        lines: [
          `The ${subject} that you requested in the vault ${vaultName} waits for votes.`,
          'Fewer people can vote on it now than it needs, because somebody was disabled or left a group.',
          'Cancel it and request it again, or ask an administrator of the vault whether the missing approvers will return.',
        ],
        closing: cannotBeTurnedOff,
      }
  }
}

function orphanTexts({ vault_name: vaultName, amount, decimals, asset, own_address, exposed }: Notification): Texts {
  const inUnits = (raw: string | null) => `${formatDecimal(raw ?? '0', decimals ?? 0)} ${asset}`
  const what = `The deposit of ${inUnits(amount)} to ${own_address} in the vault ${vaultName}`
  const spent = `${inUnits(exposed)} had been spent or reserved. The address sends nothing until that is covered.`
  return {
    subject: `Deposit lost by the chain in ${vaultName}: ${inUnits(amount)}`,
    lines:
      exposed === null
        ? [`${what} was reported as lost by the chain, in a way that contradicts the books. It waits for a decision.`]
        : [
            `${what} is no longer in the chain. Strongroom took back what was available of it.`,
            ...(BigInt(exposed) > 0n ? [spent] : []),
          ],
    closing: ['You receive this mail because you are an administrator of the vault.', 'You cannot turn it off.'],
  }
}

function buttonOf({ kind, amount, rows_count }: Notification): string {
  if (kind === 'orphaned') return 'Open the deposit'
  if (rows_count !== null) return 'Open the payout'
  return amount === null ? 'Open the request' : 'Open the transfer'
}

/** Returns a text such as `transfer of 5 USDT to 0x…`, `payout of 300 transfers` or `counterparty create`. */
function describeSubject({ action, amount, decimals, asset, to_address, rows_count }: Notification): string {
  if (rows_count !== null) return `payout of ${rows_count} ${rows_count === 1 ? 'transfer' : 'transfers'}`
  if (amount === null || decimals === null || asset === null) return action.replaceAll('_', ' ')
  return `transfer of ${formatDecimal(amount, decimals)} ${asset} to ${to_address}`
}

/** Returns the result of the vote. An approved transfer may be pending or confirmed by now. */
function describeOutcome(status: string): string {
  return status === 'pending' || status === 'confirmed' ? 'approved' : status.replaceAll('_', ' ')
}

type Announcement = {
  /** Null for changes of the platform, such as a change of a token. */
  vault: { code: string; name: string } | null
  /** The content is null if an earlier version of the service announced the change. */
  changes: { content: string | null; auditRecordId: string; link: string }[]
  origin: string
}

export function announcementMessage({ vault, changes, origin }: Announcement): Message {
  const place = vault === null ? 'on the Strongroom platform' : `in the vault ${vault.name} (${vault.code})`
  const log =
    vault === null
      ? 'the audit log of the platform'
      : `the audit log of the vault (GET /api/v1/vaults/${vault.code}/audit-log)`
  return layOut({
    subject: vault === null ? 'Changes to the Strongroom platform' : `Changes to the vault ${vault.name}`,
    lines: [
      `The following was changed ${place} at ${origin}.`,
      ...changes.map(({ content, auditRecordId, link }) => {
        const text = content ?? `A change was made.\nAudit record: ${auditRecordId}`
        return changes.length === 1 ? text : `${text}\n${link}`
      }),
      `To find a change in ${log}, use the number of its audit record.`,
    ],
    button: changes.length === 1 ? 'Open the change' : 'Open the latest change',
    link: changes.at(-1)!.link,
    closing: [
      'You receive this mail because the change affects something that you administer, own or vote on, or your permissions.',
      'You cannot turn it off.',
      'If you did not expect a change, ask the person who made it.',
    ],
  })
}
