import type { Deps } from '../deps.ts'
import { formatDecimal } from '../lib/money.ts'
import { mailerOf } from '../mail/mailer-of.ts'
import {
  announcementMessage,
  approvalNeededMessage,
  decidedMessage,
  type Message,
  stoppedMessage,
} from '../mail/messages.ts'
import {
  claimAnnouncements,
  claimNotification,
  type DueAnnouncement,
  type DueNotification,
  type NotificationKey,
  retryNotification,
  settleNotification,
} from '../modules/record/notifications/queries.ts'
import { repeat } from './repeat.ts'

const pauseMilliseconds = 1_000
const mailsPerRunMax = 20
const changesPerMailMax = 100
const retryMillisecondsMax = 600_000

/** Sends the mails that approvers and initiators wait for, alarms, and those that announce changes. */
export function startNotifications(deps: Deps): () => Promise<void> {
  return repeat(deps, 'send-notifications', pauseMilliseconds, () => sendNotifications(deps))
}

/** Sends what is due. A mail is sent again unless it is known to have been taken: better twice than never. */
export async function sendNotifications(deps: Deps): Promise<void> {
  for (let mails = 0; mails < mailsPerRunMax; mails += 1) {
    const notification = await claimNotification(deps.db, deps.clock())
    if (notification === undefined) break
    await sendNotification(deps, notification)
  }
  for (let mails = 0; mails < mailsPerRunMax; mails += 1) {
    const [first, ...others] = await claimAnnouncements(deps.db, changesPerMailMax, deps.clock())
    if (first === undefined) break
    await send(deps, first.mail_id, [first, ...others], announce([first, ...others], deps.publicOrigin()))
  }
}

async function sendNotification(deps: Deps, notification: DueNotification): Promise<void> {
  const isPointless =
    notification.kind === 'approval_needed' && !/^(awaiting_approval|pending)$/.test(notification.status)
  if (isPointless) return settleNotification(deps.db, notification, null)
  // An alarm about the same subject is a new mail, which a mail program must not take for the one before.
  const mailId =
    notification.kind === 'stopped'
      ? `${notification.subject_id}-${notification.created_at.getTime()}`
      : notification.subject_id
  await send(deps, mailId, [notification], compose(notification, deps.publicOrigin()))
}

type Told = NotificationKey & { created_at: Date; attempts: number; email: string }

/** Sends one mail that tells one person of all that `told` holds. */
async function send(deps: Deps, mailId: string, told: [Told, ...Told[]], message: Message): Promise<void> {
  const [first] = told
  try {
    await mailerOf(deps.config).send({
      id: `${mailId}-${first.user_id}-${first.kind}`,
      date: first.created_at,
      to: first.email,
      ...message,
    })
  } catch (error) {
    deps.log.warn({ err: error, subjectId: first.subject_id, kind: first.kind }, 'a notification was not sent')
    for (const notification of told) {
      const pause = Math.min(2 ** notification.attempts * 5_000, retryMillisecondsMax)
      await retryNotification(deps.db, notification, new Date(deps.clock().getTime() + pause))
    }
    return
  }
  for (const notification of told) await settleNotification(deps.db, notification, deps.clock())
}

function compose(notification: DueNotification, origin: string) {
  const { amount, decimals, asset, to_address } = notification
  const subject =
    amount === null || decimals === null || asset === null
      ? notification.action.replaceAll('_', ' ')
      : `transfer of ${formatDecimal(amount, decimals)} ${asset} to ${to_address}`
  const facts = { subject, vaultName: notification.vault_name, initiator: notification.initiator, link: origin }
  if (notification.kind === 'approval_needed') return approvalNeededMessage(facts)
  if (notification.kind === 'stopped') return stoppedMessage({ ...facts, reason: notification.reason ?? 'unknown' })
  return decidedMessage({ ...facts, status: outcomeOf(notification.status) })
}

function announce(changes: [DueAnnouncement, ...DueAnnouncement[]], origin: string): Message {
  const [{ vault_code: code, vault_name: name }] = changes
  return announcementMessage({
    vault: code === null || name === null ? null : { code, name },
    changes: changes.map(({ content, subject_id }) => ({ content, auditRecordId: subject_id })),
    origin,
  })
}

/** A transfer that was approved is on its way by now; what its initiator waits for is the vote. */
function outcomeOf(status: string): string {
  return status === 'pending' || status === 'confirmed' ? 'approved' : status
}
