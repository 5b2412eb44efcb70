import { useQuery } from '@tanstack/react-query'
import { lazy, useState } from 'react'
import { formatUsd } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { formatDay } from '../../lib/time.ts'
import { ChartWithTable } from '../../ui/charts/chart-with-table.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { timelineQuery } from './queries.ts'

const ValueChart = lazy(() => import('../../ui/charts/value-chart.tsx'))

/** The value of the vault over time. A day with an unknown rate is a gap. */
export function ValueCard({ code }: { code: string }) {
  const [days, setDays] = useState(30)
  const query = useQuery(timelineQuery(code, days))
  const usd = query.data?.usd ?? []
  const hasGaps = usd.some(({ usdValue }) => usdValue === null)
  const period = (
    <select
      aria-label={t('Period of the chart')}
      className="min-h-9 rounded-md border border-line bg-paper px-2"
      value={days}
      onChange={({ target }) => setDays(Number(target.value))}
    >
      <option value={30}>{t('30 days')}</option>
      <option value={90}>{t('90 days')}</option>
      <option value={365}>{t('One year')}</option>
    </select>
  )
  return (
    <Card title={t('Value over time')} actions={period}>
      <ListState
        query={query}
        isEmpty={usd.every(({ usdValue }) => usdValue === null)}
        empty={<p>{t('No value is known for these days. Rates in USD are recorded per token.')}</p>}
      >
        <ChartWithTable
          title={t('Value in USD over time')}
          series={[{ key: 'usd', label: t('Value') }]}
          points={usd.map(({ at, usdValue }) => ({ label: formatDay(at), values: { usd: usdValue } }))}
          format={formatUsd}
        >
          <ValueChart
            name={t('Value')}
            points={usd.map(({ at, usdValue }) => ({ label: formatDay(at), value: usdValue }))}
          />
        </ChartWithTable>
        {hasGaps && (
          <p className="mt-2 text-[0.8125rem] text-quiet">
            {t('Where there is no curve, the rate of a token that was held then is unknown.')}
          </p>
        )}
      </ListState>
    </Card>
  )
}
