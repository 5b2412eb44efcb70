import type { ApprovalRequest, InboxItem, PayoutRow, Transfer } from '@strongroom/sdk'
import { formatAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import type { Tone } from '../../ui/badge.tsx'

type Status = InboxItem['status'] | Transfer['status'] | ApprovalRequest['status']

/** Returns the status of a transfer or request as a word, and the tone of its display. */
export function statusOf(status: Status, isRequest = false): { word: string; tone: Tone } {
  if (isRequest && status === 'pending') return statusOf('awaiting_approval')
  const words: Record<Status, { word: string; tone: Tone }> = {
    awaiting_approval: { word: t('Waits for votes'), tone: 'waiting' },
    pending: { word: t('In progress'), tone: 'waiting' },
    confirmed: { word: t('Confirmed'), tone: 'good' },
    failed: { word: t('Failed'), tone: 'bad' },
    rejected: { word: t('Rejected'), tone: 'bad' },
    cancelled: { word: t('Cancelled'), tone: 'neutral' },
    approved: { word: t('Approved'), tone: 'good' },
    halted: { word: t('Halted'), tone: 'bad' },
    applied: { word: t('Applied'), tone: 'good' },
    expired: { word: t('Expired'), tone: 'neutral' },
    stale: { word: t('Out of date'), tone: 'warn' },
  }
  return words[status]
}

/** Describes an item of the inbox that is not a single transfer, in one line. */
export function subjectOf({ actionType, approvalRequest, payout }: InboxItem): string {
  if (payout === null) return `${actionOf(actionType)}: ${approvalRequest?.subject ?? ''}`
  const sums = payout.sums.map(({ amountDecimal, code }) => `${formatAmount(amountDecimal)} ${code}`).join(' + ')
  const of = t('{count, plural, one {# payment} other {# payments}}, {sums}', { count: payout.rows, sums })
  return `${payout.name ?? t('Payout')}: ${of}`
}

/** Describes an item of the inbox as plain text. */
export function titleOf(item: InboxItem): string {
  if (item.transfer === null) return subjectOf(item)
  const { amountDecimal, token, recipientName, toAddress } = item.transfer
  return `${formatAmount(amountDecimal)} ${token.code} ${t('to {name}', { name: recipientName ?? toAddress })}`
}

/** Returns the present name of the recipient of a transfer; for a reader who does not decide, the name at the order. */
export function recipientOf({ recipient, counterparty, toAddressId }: Transfer): string {
  const entry = recipient ? recipient.counterparty : counterparty
  if (entry !== null) return entry.name
  return toAddressId === null ? t('Not in the address book') : t('Address of this vault')
}

type Alarming = Pick<PayoutRow, 'holds' | 'isExposed' | 'recipient'>

/** Returns true for a payment that is stopped, or whose recipient resembles a known address. */
export const isAlarming = ({ holds = [], isExposed, recipient }: Alarming): boolean =>
  holds.length > 0 || isExposed === true || recipient?.isLookAlike === true

/** Returns the requested action as a title. */
export function actionOf(action: InboxItem['actionType'] | ApprovalRequest['action']): string {
  const words: Record<InboxItem['actionType'], string> = {
    transfer: t('Transfer'),
    create_address: t('New address'),
    counterparty_create: t('New counterparty'),
    counterparty_update: t('Change of a counterparty'),
    counterparty_archive: t('Removal of a counterparty'),
    counterparty_group_create: t('New group of counterparties'),
    counterparty_group_update: t('Change of a group of counterparties'),
    counterparty_group_archive: t('Removal of a group of counterparties'),
    counterparty_group_add: t('Counterparty into a group'),
    counterparty_group_remove: t('Counterparty out of a group'),
    category_assign: t('Category of an operation'),
    category_edit: t('Change of a category of an operation'),
    hold_release: t('Release of a hold'),
    composite: t('Several changes together'),
    transfer_resolve: t('Resolution of a halted transfer'),
    event_resolve: t('Decision on a held deposit'),
    transfer_replace: t('Higher fee of a transfer'),
    rules_change: t('Change of the rules'),
    passkey_add: t('First passkey of a person'),
    balance_adjust: t('Adjustment of a balance'),
  }
  return words[action]
}
