import { formatDecimal } from '../lib/money.ts'
import { formatMinute } from '../lib/period.ts'
import { layOut, type Message } from './layout.ts'

// The subjects and texts of all mails. Each function takes the facts and returns the mail.

export type { Message } from './layout.ts'

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
    closing: 'You cannot turn this mail off.',
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
    closing: 'You cannot turn this mail off.',
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
    allowed: ['You may add a passkey', `You may add your first passkey within an hour${by}, at ${at}.`],
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
    closing: 'You cannot turn this mail off.',
  })
}

type Heads = { origin: string; at: Date; count: number; block: string }

/** For the witness that keeps the heads of the chains of seals; nobody needs to read it while all is well. */
export function headsMessage({ origin, at, count, block }: Heads): Message {
  return layOut({
    subject: `Heads of the records of ${origin}`,
    lines: [
      `These are the heads of the ${count} chains of seals of ${origin}, at ${formatMinute(at)}.`,
      [
        'Keep this mail: whoever cuts the record or the ledger short, or computes either anew, cannot bring these heads back.',
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

/** The facts of a mail about one transfer or approval request. */
type Notification = {
  kind: 'approval_needed' | 'decided' | 'stopped' | 'stuck' | 'quorum_lost' | 'orphaned'
  vault_name: string
  initiator: string
  /** What is requested, such as `transfer` or `counterparty_create`. */
  action: string
  status: string
  /** null in all four: it is not about one transfer. */
  amount: string | null
  decimals: number | null
  asset: string | null
  to_address: string | null
  /** Of a payout; null otherwise. */
  rows_count: number | null
  /** Why it was halted or failed. */
  reason: string | null
  /** Of a deposit: the address, and in raw units how much of it was spent; null: it is not taken back. */
  own_address: string | null
  exposed: string | null
}

/** @param link to the page of the transfer or approval request */
export function notificationMessage(notification: Notification, link: string): Message {
  const { vault_name: vaultName, initiator } = notification
  const subject = describeSubject(notification)
  const button = buttonOf(notification)
  switch (notification.kind) {
    case 'approval_needed':
      return layOut({
        subject: `Your vote is needed in ${vaultName}: ${subject}`,
        lines: [
          `${initiator} requested the ${subject} in the vault ${vaultName}.`,
          'The request waits for votes. You are one of its approvers.',
        ],
        button,
        link,
        closing: [
          'Before you vote, compare what you see in Strongroom with what you expect.',
          'You can turn these mails off in your profile.',
        ],
      })
    case 'decided':
      return layOut({
        subject: `Decided in ${vaultName}: ${subject} is ${describeOutcome(notification.status)}`,
        lines: [
          `The ${subject} that you requested in the vault ${vaultName} is now ${describeOutcome(notification.status)}.`,
        ],
        button,
        link,
        closing: 'You can turn these mails off in your profile.',
      })
    case 'stuck':
      return layOut({
        subject: `Waiting in ${vaultName}: ${subject}`,
        lines: [
          `The ${subject} that you requested in the vault ${vaultName} waits for its confirmation for longer than usual.`,
          'Its transaction may pay too little. It can be sped up, or cancelled on chain.',
        ],
        button,
        link,
        closing: 'Do not order it again: it is carried out as soon as its transaction is mined.',
      })
    case 'stopped':
      return layOut({
        subject: `Stopped in ${vaultName}: ${subject}`,
        lines: [
          `Strongroom stopped the ${subject} in the vault ${vaultName}. It was requested by ${initiator}.`,
          `Reason: ${notification.reason ?? 'unknown'}`,
        ],
        button,
        link,
        closing: [
          'You receive this mail because you are an administrator of the vault or the initiator.',
          'You cannot turn it off.',
          'Check the audit log of the vault.',
          'If database rows were changed, somebody has unauthorised access.',
        ],
      })
    case 'orphaned':
      return orphanMessage(notification, link)
    case 'quorum_lost':
      return quorumMessage(notification, subject, link)
  }
}

function orphanMessage(
  { vault_name: vaultName, amount, decimals, asset, own_address: address, exposed }: Notification,
  link: string,
): Message {
  const inUnits = (raw: string | null) => `${formatDecimal(raw ?? '0', decimals ?? 0)} ${asset}`
  const what = `The deposit of ${inUnits(amount)} to ${address} in the vault ${vaultName}`
  const isSpent = exposed !== null && BigInt(exposed) > 0n
  return layOut({
    subject: `Deposit lost by the chain in ${vaultName}: ${inUnits(amount)}`,
    lines:
      exposed === null
        ? [`${what} was reported as lost by the chain, in a way that contradicts the books. It waits for a decision.`]
        : [
            `${what} is no longer in the chain. Strongroom took back what was available of it.`,
            ...(isSpent
              ? [`${inUnits(exposed)} had been spent or reserved. The address sends nothing until that is covered.`]
              : []),
          ],
    button: 'Open the deposit',
    link,
    closing: ['You receive this mail because you are an administrator of the vault.', 'You cannot turn it off.'],
  })
}

function quorumMessage(notification: Notification, subject: string, link: string): Message {
  const { vault_name: vaultName } = notification
  return layOut({
    subject: `Too few people can vote in ${vaultName}: ${subject}`,
    lines: [
      `The ${subject} that you requested in the vault ${vaultName} waits for votes.`,
      'Fewer people can vote on it now than it needs, because somebody was disabled or left a group.',
      'Cancel it and request it again, or ask an administrator of the vault who may come back.',
    ],
    button: buttonOf(notification),
    link,
    closing: 'You cannot turn this mail off.',
  })
}

function buttonOf({ amount, rows_count }: Notification): string {
  if (rows_count !== null) return 'Open the payout'
  return amount === null ? 'Open the request' : 'Open the transfer'
}

/** Such as `transfer of 5 USDT to 0x…`, `payout of 300 transfers` or `counterparty create`. */
function describeSubject({ action, amount, decimals, asset, to_address, rows_count }: Notification): string {
  if (rows_count !== null) return `payout of ${rows_count} ${rows_count === 1 ? 'transfer' : 'transfers'}`
  if (amount === null || decimals === null || asset === null) return action.replaceAll('_', ' ')
  return `transfer of ${formatDecimal(amount, decimals)} ${asset} to ${to_address}`
}

/** A transfer that was approved may be pending or confirmed by now. The initiator waits for the result of the vote. */
function describeOutcome(status: string): string {
  return status === 'pending' || status === 'confirmed' ? 'approved' : status.replaceAll('_', ' ')
}

type Announcement = {
  /** null: changes of the platform, such as of a token */
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
