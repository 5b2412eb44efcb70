import { useQuery } from '@tanstack/react-query'
import { lazy } from 'react'
import { formatUsd } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { formatDay } from '../../lib/time.ts'
import { Usd } from '../../ui/amount.tsx'
import { ChartWithTable } from '../../ui/charts/chart-with-table.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { flowsQuery } from './queries.ts'

const FlowChart = lazy(() => import('../../ui/charts/flow-chart.tsx'))

/** Incoming and outgoing amounts of the last 30 days. */
export function FlowsCard({ code, enabled }: { code: string; enabled: boolean }) {
  const query = useQuery({ ...flowsQuery(code), enabled })
  const report = query.data
  const unknown = report?.dataQuality.operationsWithoutUsdRate ?? 0
  return (
    <Card title={t('In and out, last 30 days')}>
      <ListState
        query={query}
        isEmpty={report?.dataQuality.totalOperations === 0}
        empty={<p>{t('Nothing moved in these days.')}</p>}
      >
        {report !== undefined && (
          <>
            <dl className="mb-3 flex flex-wrap gap-x-8 gap-y-2">
              <Figure name={t('Received')} value={report.summary.incomingUsd} className="text-good" />
              <Figure name={t('Sent')} value={report.summary.outgoingUsd} />
              <Figure name={t('Net')} value={report.summary.netFlowUsd} />
            </dl>
            <ChartWithTable
              title={t('Received and sent per day in USD')}
              series={[
                { key: 'in', label: t('Received') },
                { key: 'out', label: t('Sent') },
              ]}
              points={report.timeline.map(({ periodStart, incomingUsd, outgoingUsd }) => ({
                label: formatDay(periodStart),
                values: { in: incomingUsd, out: outgoingUsd },
              }))}
              format={formatUsd}
            >
              <FlowChart
                points={report.timeline.map(({ periodStart, incomingUsd, outgoingUsd, netFlowUsd }) => ({
                  label: formatDay(periodStart),
                  incoming: incomingUsd,
                  outgoing: outgoingUsd,
                  net: netFlowUsd,
                }))}
              />
            </ChartWithTable>
            {unknown > 0 && (
              <p className="mt-2 text-[0.8125rem] text-warn">
                {t(
                  '{count, plural, one {# operation has} other {# operations have}} no known value in USD and are not in these figures.',
                  { count: unknown },
                )}
              </p>
            )}
          </>
        )}
      </ListState>
    </Card>
  )
}

function Figure({ name, value, className = '' }: { name: string; value: string; className?: string }) {
  return (
    <div>
      <dt className="text-[0.8125rem] text-quiet">{name}</dt>
      <dd className={`text-lg font-semibold ${className}`}>
        <Usd value={value} />
      </dd>
    </div>
  )
}
