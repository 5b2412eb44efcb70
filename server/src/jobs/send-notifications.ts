import type { Deps } from '../deps.ts'
import { formatDecimal } from '../lib/money.ts'
import { mailerOf } from '../mail/mailer-of.ts'
import { approvalNeededMessage, decidedMessage, type Message, rulesChangedMessage } from '../mail/messages.ts'
import {
  claimNotifications,
  claimRuleChanges,
  type DueNotification,
  type DueRuleChange,
  markSent,
  type NotificationKey,
  retryNotification,
} from '../modules/notifications/queries.ts'
import { repeat } from './repeat.ts'

const pauseMilliseconds = 1_000
const claimedMax = 20
const changesPerMailMax = 100
const valueLengthMax = 80
const attemptsMax = 10
const retryMillisecondsMax = 600_000

/** Sends the mails that approvers and initiators wait for, and those that tell of changes to the rules. */
export function startNotifications(deps: Deps): () => Promise<void> {
  return repeat(deps, 'send-notifications', pauseMilliseconds, () => sendNotifications(deps))
}

/** Sends what is due; a mail that the mail server did not take is tried again, one whose fate is unknown is not. */
export async function sendNotifications(deps: Deps): Promise<void> {
  const due = await claimNotifications(deps.db, claimedMax, deps.clock())
  for (const notification of due) await sendNotification(deps, notification)
  for (let mails = 0; mails < claimedMax; mails += 1) {
    const [first, ...others] = await claimRuleChanges(deps.db, changesPerMailMax, deps.clock())
    if (first === undefined) return
    await send(deps, [first, ...others], rulesChanged([first, ...others], deps.publicOrigin()))
  }
}

async function sendNotification(deps: Deps, notification: DueNotification): Promise<void> {
  const isPointless =
    notification.kind === 'approval_needed' && !/^(awaiting_approval|pending)$/.test(notification.status)
  if (!isPointless) await send(deps, [notification], compose(notification, deps.publicOrigin()))
}

type Told = NotificationKey & { created_at: Date; attempts: number; email: string }

/** Sends one mail that tells one person of all that `told` holds. */
async function send(deps: Deps, told: [Told, ...Told[]], message: Message): Promise<void> {
  const [first] = told
  try {
    await mailerOf(deps.config).send({
      id: `${first.subject_id}-${first.user_id}-${first.kind}`,
      date: first.created_at,
      to: first.email,
      ...message,
    })
  } catch (error) {
    deps.log.warn({ err: error, subjectId: first.subject_id, kind: first.kind }, 'a notification was not sent')
    if (!isCertainlyUnsent(error)) return
    for (const notification of told) {
      if (notification.attempts >= attemptsMax) continue
      const pause = Math.min(2 ** notification.attempts * 5_000, retryMillisecondsMax)
      await retryNotification(deps.db, notification, new Date(deps.clock().getTime() + pause))
    }
    return
  }
  for (const notification of told) await markSent(deps.db, notification, deps.clock())
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

function rulesChanged(changes: [DueRuleChange, ...DueRuleChange[]], link: string): Message {
  return rulesChangedMessage({ vaultName: changes[0].vault_name, changes: changes.map(describe), link })
}

/** Such as `2026-11-21T09:00:00.000Z: Ann updated the policy "Large": approvalThreshold from 2 to 1, rules`. */
function describe({ actor, action, target, person, groups, before, after, created_at }: DueRuleChange): string {
  const [noun, verb] = action.replaceAll('_', ' ').split('.')
  const what = person === null ? `${noun} ${quote(target)}` : `${noun} of ${person} in ${quote(target)}`
  const into = groups === null ? '' : `, into ${groups.map(quote).join(', ')}`
  const changed =
    verb === 'updated'
      ? `: ${Object.keys(after ?? {})
          .map(change)
          .join(', ')}`
      : ''
  return `${created_at.toISOString()}: ${actor} ${verb} the ${what}${into}${changed}`

  function change(field: string): string {
    const [was, is] = [before?.[field], after?.[field]]
    return typeof was === 'object' && was !== null ? field : `${field} from ${quote(was)} to ${quote(is)}`
  }
}

function quote(value: unknown): string {
  const text = JSON.stringify(value ?? null)
  return text.length > valueLengthMax ? `${text.slice(0, valueLengthMax)}…` : text
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
