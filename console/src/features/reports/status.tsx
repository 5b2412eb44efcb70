import { t } from '../../lib/language.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'

const tones: Record<string, Tone> = {
  awaiting_approval: 'waiting',
  pending: 'waiting',
  confirmed: 'good',
  failed: 'bad',
  rejected: 'bad',
  cancelled: 'neutral',
}

export const statuses = ['awaiting_approval', 'pending', 'confirmed', 'rejected', 'cancelled', 'failed'] as const

export function statusWord(status: string): string {
  const words: Record<string, string> = {
    awaiting_approval: t('Waits for votes'),
    pending: t('On its way'),
    confirmed: t('Confirmed'),
    failed: t('Failed'),
    rejected: t('Rejected'),
    cancelled: t('Cancelled'),
  }
  return words[status] ?? status
}

export function StatusBadge({ status }: { status: string }) {
  return <Badge tone={tones[status] ?? 'neutral'}>{statusWord(status)}</Badge>
}
