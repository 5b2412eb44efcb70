import type { Deps } from '../deps.ts'
import { consolePaths } from '../lib/console-paths.ts'
import { mailBackoff } from '../lib/limits.ts'
import { announcementMessage, type Message, notificationMessage } from '../mail/messages.ts'
import { sendMail } from '../mail/send.ts'
import {
  claimAnnouncements,
  claimNotifications,
  type DueAnnouncement,
  type DueNotification,
  type NotificationKey,
  retryNotification,
  settleNotification,
} from '../modules/record/notifications/queries.ts'
import { listRequirements } from '../modules/rules/votes/queries.ts'
import { isQuorumReachable } from '../modules/rules/votes/tally.ts'
import { type Claims, runClaims } from './run-claims.ts'

const changesPerMailMax = 100

const notifications: Claims<DueNotification> = {
  name: 'notification',
  claim: ({ db, clock }, limit) => claimNotifications(db, limit, clock()),
  run: sendNotification,
  retry: ({ db }, notification, at) => retryNotification(db, notification, at),
  backoff: mailBackoff,
}

type Announcement = { attempts: number; changes: [DueAnnouncement, ...DueAnnouncement[]] }

const announcements: Claims<Announcement> = {
  name: 'announcement',
  async claim({ db, clock }) {
    const [first, ...others] = await claimAnnouncements(db, changesPerMailMax, clock())
    return first === undefined ? [] : [{ attempts: first.attempts, changes: [first, ...others] }]
  },
  run: sendAnnouncement,
  async retry({ db }, { changes }, at) {
    for (const change of changes) await retryNotification(db, change, at)
  },
  backoff: mailBackoff,
}

/**
 * Sends the due mails to approvers, initiators and administrators, then the mails that announce changes.
 * @returns true if all due mails are sent
 */
export async function sendNotifications(deps: Deps, signal?: AbortSignal): Promise<boolean> {
  const isNotified = await runClaims(deps, notifications, signal)
  return (await runClaims(deps, announcements, signal)) && isNotified
}

async function sendNotification(deps: Deps, notification: DueNotification, signal?: AbortSignal): Promise<void> {
  if (await isPointless(deps, notification)) return settleNotification(deps.db, notification, null)
  // An alarm about the same subject is a new mail, which a mail program must not mistake for an earlier one.
  const mailId = /^(stopped|quorum_lost|orphaned)$/.test(notification.kind)
    ? `${notification.subject_id}-${notification.created_at.getTime()}`
    : notification.subject_id
  await send(deps, mailId, [notification], notificationMessage(notification, linkTo(deps, notification)), signal)
}

/** Returns true if the subject was decided meanwhile, or if its quorum can be reached again. */
async function isPointless({ db }: Deps, { kind, status, vault_id, subject_id }: DueNotification): Promise<boolean> {
  if (kind === 'stuck') return status !== 'pending'
  if (kind !== 'approval_needed' && kind !== 'quorum_lost') return false
  if (!/^(awaiting_approval|pending)$/.test(status)) return true
  return kind === 'quorum_lost' && isQuorumReachable(await listRequirements(db, vault_id, subject_id))
}

async function sendAnnouncement(deps: Deps, { changes }: Announcement, signal?: AbortSignal): Promise<void> {
  const [{ mail_id, vault_code: code, vault_name: name }] = changes
  const message = announcementMessage({
    vault: code === null || name === null ? null : { code, name },
    changes: changes.map(({ content, subject_id }) => ({
      content,
      auditRecordId: subject_id,
      link: `${deps.publicOrigin()}${consolePaths.change(code, subject_id)}`,
    })),
    origin: deps.publicOrigin(),
  })
  await send(deps, mail_id, changes, message, signal)
}

const pathsOf = {
  transfer: consolePaths.transfer,
  payout: consolePaths.payout,
  deposit: consolePaths.deposit,
  approval_request: consolePaths.approvalRequest,
} as const

function linkTo(deps: Deps, { kind, subject_type, subject_id, vault_code }: DueNotification): string {
  const pathOf = kind === 'stuck' ? consolePaths.transferOnItsWay : pathsOf[subject_type]
  return `${deps.publicOrigin()}${pathOf(vault_code, subject_id)}`
}

type Addressed = NotificationKey & { created_at: Date; attempts: number; email: string }

/** Sends one mail about all `notifications`, which are for one person. */
async function send(
  deps: Deps,
  mailId: string,
  notifications: [Addressed, ...Addressed[]],
  message: Message,
  signal: AbortSignal | undefined,
): Promise<void> {
  const [{ user_id, kind, created_at: date, email: to }] = notifications
  const isAccepted = await sendMail(deps, { id: `${mailId}-${user_id}-${kind}`, date, to, ...message }, signal)
  for (const notification of notifications) {
    await settleNotification(deps.db, notification, isAccepted ? deps.clock() : null)
  }
}
