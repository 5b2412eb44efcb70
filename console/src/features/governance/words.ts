import type { ChangeSet, RulesDifference } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'
import type { Tone } from '../../ui/badge.tsx'

/** The status of a change set as a word. */
export function statusOf(status: ChangeSet['status']): { word: string; tone: Tone } {
  const words: Record<ChangeSet['status'], { word: string; tone: Tone }> = {
    draft: { word: t('Draft'), tone: 'neutral' },
    pending: { word: t('Waits for votes'), tone: 'waiting' },
    scheduled: { word: t('Waits for its time'), tone: 'waiting' },
    applied: { word: t('Applied'), tone: 'good' },
    rejected: { word: t('Rejected'), tone: 'bad' },
    cancelled: { word: t('Cancelled'), tone: 'neutral' },
    expired: { word: t('Expired'), tone: 'neutral' },
    failed: { word: t('Failed'), tone: 'bad' },
    stale: { word: t('Out of date'), tone: 'warn' },
  }
  return words[status]
}

export function directionOf(direction: ChangeSet['direction']): string {
  return direction === 'tightening' ? t('Only stricter') : t('May permit more')
}

export function kindOf(kind: RulesDifference['differences'][number]['kind']): string {
  const words: Record<typeof kind, string> = {
    governance: t('Governance'),
    group: t('Group'),
    policy: t('Policy'),
    invitation: t('Invitation'),
    category: t('Category'),
    wallet: t('Wallet service'),
    token: t('Token'),
    variant: t('Variant'),
    service_key: t('Key of a service'),
  }
  return words[kind]
}
