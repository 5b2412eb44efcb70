import type { HistoryItem } from '@strongroom/sdk'
import { t } from '../lib/language.ts'
import { Badge, type Tone } from './badge.tsx'

const tones: Record<string, Tone> = {
  awaiting_approval: 'waiting',
  pending: 'waiting',
  confirmed: 'good',
  failed: 'bad',
  rejected: 'bad',
  cancelled: 'neutral',
  quarantined: 'warn',
}

/** The status of a transfer or a deposit, in words. */
export function OperationStatus({ status }: { status: string }) {
  return <Badge tone={tones[status] ?? 'neutral'}>{statusWord(status)}</Badge>
}

const words: Record<string, () => string> = {
  awaiting_approval: () => t('Waits for votes'),
  pending: () => t('On its way'),
  confirmed: () => t('Confirmed'),
  failed: () => t('Failed'),
  rejected: () => t('Rejected'),
  cancelled: () => t('Cancelled'),
  quarantined: () => t('In quarantine'),
}

/** Returns the statuses by which operations may be filtered, each with its word. */
export function statusChoices(): [status: string, word: string][] {
  const statuses = Object.keys(words).filter((status) => status !== 'quarantined')
  return statuses.map((status) => [status, statusWord(status)])
}

export function statusWord(status: string): string {
  return words[status]?.() ?? status
}

/**
 * Describes an operation from the side of the vault: "Received from Northwind", "Sent". An unsent operation is a
 * "Transfer".
 */
export function operationTitle(item: Pick<HistoryItem, 'direction' | 'flowType' | 'counterparty' | 'status'>): string {
  const name = item.counterparty?.name
  if (item.direction === 'in') {
    if (item.flowType === 'internal') return t('Received from an address of the vault')
    return name === undefined ? t('Received') : t('Received from {name}', { name })
  }
  if (item.status !== 'confirmed') {
    if (item.flowType === 'internal') return t('Transfer to an address of the vault')
    return name === undefined ? t('Transfer') : t('Transfer to {name}', { name })
  }
  if (item.flowType === 'internal') return t('Sent to an address of the vault')
  return name === undefined ? t('Sent') : t('Sent to {name}', { name })
}
