import type { ActivitySummary } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { lazy } from 'react'
import { formatUsd } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { formatDay } from '../../lib/time.ts'
import { Usd } from '../../ui/amount.tsx'
import { ChartWithTable } from '../../ui/charts/chart-with-table.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { flowsQuery, timelineQuery } from './queries.ts'
import { wayToBalance } from './way-to-balance.ts'

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
              <Figure name={t('Network fees')} value={report.summary.feesUsd} />
              <Figure name={t('Net')} value={report.summary.netFlowUsd} />
            </dl>
            <WayToBalance code={code} summary={report.summary} />
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

/** From the balance 30 days ago to the balance now, in one line. */
function WayToBalance({ code, summary }: { code: string; summary: ActivitySummary }) {
  const { data } = useQuery(timelineQuery(code, 30))
  const way = wayToBalance({
    opening: data?.usd[0]?.usdValue ?? null,
    closing: data?.usd.at(-1)?.usdValue ?? null,
    incoming: summary.incomingUsd,
    outgoing: summary.outgoingUsd,
    fees: summary.feesUsd,
  })
  if (way === null) return null
  const signed = (usd: string) => formatUsd(usd, 'exceptZero')
  return (
    <p className="figures mb-3 text-[0.8125rem] text-quiet">
      {t('{opening} before, {net} net, {fees} network fees, {rest} by rates and corrections: {closing} now.', {
        opening: formatUsd(way.opening),
        net: signed(way.net),
        fees: signed(way.fees),
        rest: signed(way.rest),
        closing: formatUsd(way.closing),
      })}
    </p>
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
