import type { FeesOfKind } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'
import { exceptionsSearchOf } from './drilldown.ts'
import { ExceptionsLink, useShownReport } from './drilldown-link.tsx'
import { formatCount } from './figures.tsx'

/** Returns what a fee was paid for. */
export function feeKindWord(kind: FeesOfKind['kind']): string {
  return feeKindChoices().find(({ value }) => value === kind)!.label
}

export function feeKindChoices(): { value: FeesOfKind['kind']; label: string }[] {
  return [
    { value: 'payment', label: t('Payment') },
    { value: 'replacement', label: t('Payment that was sped up') },
    { value: 'cancellation', label: t('Cancellation on chain') },
    { value: 'failure', label: t('Transaction that failed') },
  ]
}

/** The number of fees without a value, with a link to their operations; null without such fees. */
export function FeesExceptions({ count }: { count: number }) {
  const shown = useShownReport()
  if (count === 0) return formatCount(count)
  return (
    <ExceptionsLink search={exceptionsSearchOf(shown, 'feesWithoutUsdRate')} className="text-accent underline">
      {formatCount(count)}
    </ExceptionsLink>
  )
}
