import type { ActivityPeriod } from '@strongroom/sdk'
import { lazy, Suspense, useState } from 'react'
import { formatter } from '../../lib/formatter.ts'
import { t } from '../../lib/language.ts'
import { Usd } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Card } from '../../ui/page.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import { AssetAmounts } from './breakdowns.tsx'
import { DrilldownLink } from './drilldown-link.tsx'
import { amountsOf, formatCount } from './figures.tsx'
import { knownNet, knownUsd } from './known-usd.ts'

const FlowChart = lazy(() => import('../../ui/charts/flow-chart.tsx'))

/** Flows over time in USD: a chart, and its table with every token. */
export function Timeline({ periods, zone }: { periods: readonly ActivityPeriod[]; zone: string }) {
  const [asTable, setAsTable] = useState(false)
  const label = (period: ActivityPeriod) => periodLabel(period.periodStart, zone)
  const points = periods.map((period) => ({
    label: label(period),
    incoming: period.incomingUsd,
    outgoing: period.outgoingUsd,
    net: period.netFlowUsd,
  }))
  const busy = periods.filter(({ operationsCount }) => operationsCount > 0)
  return (
    <Card
      title={t('Over time, in USD')}
      actions={
        <Button look="quiet" aria-expanded={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? t('Hide the table') : t('As a table')}
        </Button>
      }
    >
      <figure>
        <figcaption className="mb-2 flex flex-wrap gap-4 text-[0.8125rem] text-quiet">
          <Key className="bg-good" text={t('In')} />
          <Key className="bg-warn" text={t('Out')} />
          <Key className="bg-accent" text={t('Net')} />
        </figcaption>
        <div className="h-60" aria-hidden="true">
          <Suspense fallback={null}>
            <FlowChart points={points} />
          </Suspense>
        </div>
      </figure>
      {asTable && <PeriodTable rows={busy} label={label} />}
    </Card>
  )
}

function Key({ className, text }: { className: string; text: string }) {
  return (
    <span className="inline-flex items-center gap-2">
      <span className={`size-3 rounded-sm ${className}`} />
      {text}
    </span>
  )
}

function PeriodTable({ rows, label }: { rows: readonly ActivityPeriod[]; label: (row: ActivityPeriod) => string }) {
  const incoming = (row: ActivityPeriod) => knownUsd(row.incomingUsd, amountsOf(row.incomingByAsset))
  const outgoing = (row: ActivityPeriod) => knownUsd(row.outgoingUsd, amountsOf(row.outgoingByAsset))
  const columns: Column<ActivityPeriod>[] = [
    { id: 'period', header: t('From'), cell: label },
    { id: 'in', header: t('In'), align: 'end', cell: (row) => <AssetAmounts assets={row.incomingByAsset} /> },
    { id: 'inUsd', header: t('In, USD'), align: 'end', cell: (row) => <Usd value={incoming(row)} /> },
    { id: 'out', header: t('Out'), align: 'end', cell: (row) => <AssetAmounts assets={row.outgoingByAsset} /> },
    { id: 'outUsd', header: t('Out, USD'), align: 'end', cell: (row) => <Usd value={outgoing(row)} /> },
    {
      id: 'net',
      header: t('Net, USD'),
      align: 'end',
      cell: (row) => <Usd value={knownNet(row.netFlowUsd, incoming(row), outgoing(row))} />,
    },
    {
      id: 'count',
      header: t('Operations'),
      align: 'end',
      cell: (row) => (
        <DrilldownLink filters={{ from: row.periodStart, to: lastInstantOf(row) }}>
          {formatCount(row.operationsCount)}
        </DrilldownLink>
      ),
    },
  ]
  return (
    <SmallTable
      caption={t('Flows per period')}
      columns={columns}
      rows={rows}
      rowKey={({ periodStart }) => periodStart}
      first={31}
    />
  )
}

function lastInstantOf({ periodEnd }: ActivityPeriod): string {
  return new Date(new Date(periodEnd).getTime() - 1).toISOString()
}

/** Returns the day on which a period begins, on the calendar of the report. */
function periodLabel(at: string, zone: string): string {
  return formatter(Intl.DateTimeFormat, { dateStyle: 'medium', timeZone: zone }).format(new Date(at))
}
