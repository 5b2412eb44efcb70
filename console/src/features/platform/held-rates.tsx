import type { HeldRate } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { strongroom } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Failed, ListState } from '../../ui/list-states.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { heldRatesQuery } from './queries.ts'

/** Rates that a second person must decide on, such as a jump from the previous rate. */
export function HeldRates() {
  const query = useInfiniteQuery(heldRatesQuery('held'))
  const rates = query.data?.pages.flatMap(({ items }) => items) ?? []
  const [chosen, setChosen] = useState<{ rate: HeldRate; decision: 'confirm' | 'reject' } | null>(null)
  return (
    <Card title={t('Held back')}>
      <ListState
        query={query}
        isEmpty={rates.length === 0}
        empty={<p>{t('No rate waits for a decision.')}</p>}
        rows={1}
      >
        <ul className="grid gap-3">
          {rates.map((rate) => (
            <li
              key={rate.id}
              className="flex flex-wrap items-center justify-between gap-3 border-b border-line pb-3 last:border-0"
            >
              <div>
                <Badge tone="waiting">{t('Waits for a decision')}</Badge>{' '}
                <span className="figures font-medium">{`${rate.token}: ${formatAmount(rate.usdRate)} USD`}</span>
                <p className="text-quiet">
                  {t('{source}, as of {when}', { source: rate.source, when: formatTime(rate.asOf) })}
                  {rate.comparedUsdRate !== null &&
                    ` · ${t('before it {rate} USD', { rate: formatAmount(rate.comparedUsdRate) })}`}
                </p>
              </div>
              <div className="flex gap-2">
                <Button onClick={() => setChosen({ rate, decision: 'confirm' })}>{t('Confirm')}</Button>
                <Button look="danger" onClick={() => setChosen({ rate, decision: 'reject' })}>
                  {t('Reject')}
                </Button>
              </div>
            </li>
          ))}
        </ul>
      </ListState>
      <Sheet
        title={chosen?.decision === 'reject' ? t('Reject this rate?') : t('Confirm this rate?')}
        open={chosen !== null}
        onClose={() => setChosen(null)}
      >
        {chosen !== null && <Decide {...chosen} onDone={() => setChosen(null)} />}
      </Sheet>
    </Card>
  )
}

type DecideProps = { rate: HeldRate; decision: 'confirm' | 'reject'; onDone: () => void }

function Decide({ rate, decision, onDone }: DecideProps) {
  const client = useQueryClient()
  const decide = useMutation({
    mutationFn: () => strongroom.heldRates[decision](rate.id),
    onSuccess: ({ status }) => {
      void client.invalidateQueries({ queryKey: ['held-rates'] })
      void client.invalidateQueries({ queryKey: ['tokens', rate.tokenId] })
      announce(status === 'confirmed' ? t('The rate is recorded.') : t('The rate is rejected.'))
      onDone()
    },
  })
  return (
    <>
      <Facts
        facts={[
          [t('Token'), `${rate.token} · ${rate.network}`],
          [t('USD'), formatAmount(rate.usdRate)],
          [t('Before'), rate.comparedUsdRate === null ? null : formatAmount(rate.comparedUsdRate)],
          [t('As of'), formatTime(rate.asOf)],
          [t('Source'), rate.source],
        ]}
      />
      {decide.isError && (
        <div className="mt-4">
          <Failed error={decide.error} retry={() => decide.mutate()} />
        </div>
      )}
      <Button
        className="mt-4"
        look={decision === 'reject' ? 'danger' : 'primary'}
        busy={decide.isPending}
        onClick={() => decide.mutate()}
      >
        {decision === 'reject' ? t('Reject') : t('Confirm')}
      </Button>
    </>
  )
}
