import type { Deps } from '../deps.ts'
import { formatDecimal } from '../lib/money.ts'
import { mailerOf } from '../mail/mailer-of.ts'
import { approvalNeededMessage, decidedMessage } from '../mail/messages.ts'
import {
  claimNotifications,
  type DueNotification,
  markSent,
  retryNotification,
} from '../modules/notifications/queries.ts'
import { repeat } from './repeat.ts'

const pauseMilliseconds = 1_000
const claimedMax = 20
const attemptsMax = 10
const retryMillisecondsMax = 600_000

/** Sends the mails that approvers and initiators wait for. */
export function startNotifications(deps: Deps): () => Promise<void> {
  return repeat(deps, 'send-notifications', pauseMilliseconds, () => sendNotifications(deps))
}

/** Sends what is due; a mail that the mail server did not take is tried again, one whose fate is unknown is not. */
export async function sendNotifications(deps: Deps): Promise<void> {
  const due = await claimNotifications(deps.db, claimedMax, deps.clock())
  for (const notification of due) await send(deps, notification)
}

async function send(deps: Deps, notification: DueNotification): Promise<void> {
  const isPointless =
    notification.kind === 'approval_needed' && !/^(awaiting_approval|pending)$/.test(notification.status)
  if (isPointless) return
  try {
    await mailerOf(deps.config).send({
      id: `${notification.subject_id}-${notification.user_id}-${notification.kind}`,
      date: notification.created_at,
      to: notification.email,
      ...compose(notification, deps.publicOrigin()),
    })
  } catch (error) {
    deps.log.warn(
      { err: error, subjectId: notification.subject_id, kind: notification.kind },
      'a notification was not sent',
    )
    if (notification.attempts >= attemptsMax || !isCertainlyUnsent(error)) return
    const pause = Math.min(2 ** notification.attempts * 5_000, retryMillisecondsMax)
    return retryNotification(deps.db, notification, new Date(deps.clock().getTime() + pause))
  }
  await markSent(deps.db, notification, deps.clock())
}

function compose(notification: DueNotification, origin: string) {
  const { amount, decimals, asset, to_address } = notification
  const subject =
    amount === null || decimals === null || asset === null
      ? notification.action.replaceAll('_', ' ')
      : `transfer of ${formatDecimal(amount, decimals)} ${asset} to ${to_address}`
  const facts = { subject, vaultName: notification.vault_name, initiator: notification.initiator, link: origin }
  return notification.kind === 'approval_needed'
    ? approvalNeededMessage(facts)
    : decidedMessage({ ...facts, status: outcomeOf(notification.status) })
}

/** A transfer that was approved is on its way by now; what its initiator waits for is the vote. */
function outcomeOf(status: string): string {
  return status === 'pending' || status === 'confirmed' ? 'approved' : status
}

/** The server answered with a refusal, or no connection came about: nothing left this house. */
function isCertainlyUnsent(error: unknown): boolean {
  const { responseCode, command } = (error ?? {}) as { responseCode?: unknown; command?: unknown }
  return typeof responseCode === 'number' || command === 'CONN'
}
