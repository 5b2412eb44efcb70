import type { ActivitySummary, ReportComparison, ReportDataQuality } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { TrendingDown, TrendingUp } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatUsd } from '../../lib/amounts.ts'
import { formatter } from '../../lib/formatter.ts'
import { t } from '../../lib/language.ts'
import { formatDay } from '../../lib/time.ts'
import { type Drilldown, feesSearchOf } from './drilldown.ts'
import { DrilldownLink, useShownReport } from './drilldown-link.tsx'
import { knownNet, knownUsd } from './known-usd.ts'

type FiguresProps = { summary: ActivitySummary; comparison: ReportComparison; quality: ReportDataQuality }

/** The sums of a report, each with its change and a link to its operations. */
export function Figures({ summary, comparison, quality }: FiguresProps) {
  const incoming = knownUsd(summary.incomingUsd, amountsOf(summary.incomingAmountByAsset))
  const outgoing = knownUsd(summary.outgoingUsd, amountsOf(summary.outgoingAmountByAsset))
  const turnover = knownUsd(summary.grossTurnoverUsd, amountsOf(summary.grossTurnoverByAsset))
  const missing = quality.operationsWithoutUsdRate
  return (
    <>
      <dl className="mb-4 grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-6">
        <Figure name={t('Operations')} change={comparison.operationsCountChangePercent}>
          {formatCount(summary.operationsCount)}
        </Figure>
        <Figure name={t('In')} change={comparison.incomingUsdChangePercent} filters={{ direction: 'in' }}>
          {formatUsd(incoming)}
        </Figure>
        <Figure name={t('Out')} change={comparison.outgoingUsdChangePercent} filters={{ direction: 'out' }}>
          {formatUsd(outgoing)}
        </Figure>
        <Figure name={t('Net')}>{formatUsd(knownNet(summary.netFlowUsd, incoming, outgoing))}</Figure>
        <Figure name={t('Network fees')} filters={null}>
          <FeesLink>{formatUsd(knownUsd(summary.feesUsd, amountsOf(summary.feesByAsset)))}</FeesLink>
        </Figure>
        <Figure name={t('Turnover')} change={comparison.grossTurnoverUsdChangePercent}>
          {formatUsd(turnover)}
        </Figure>
      </dl>
      {missing > 0 && (
        <p className="mb-4 text-quiet">
          {t(
            '{count, plural, one {# operation has} other {# operations have}} no USD value and {count, plural, one {is} other {are}} left out of the sums in USD.',
            { count: missing },
          )}
        </p>
      )}
      {quality.feesWithoutUsdRate > 0 && (
        <p className="mb-4 text-quiet">
          {t(
            '{count, plural, one {# network fee has} other {# network fees have}} no USD value and {count, plural, one {is} other {are}} left out of the network fees in USD.',
            { count: quality.feesWithoutUsdRate },
          )}
        </p>
      )}
      {comparison.previousFrom !== null && comparison.previousTo !== null && (
        <p className="mb-4 text-quiet">
          {t('Changes are compared with {from} to {to}.', {
            from: formatDay(comparison.previousFrom),
            to: formatDay(new Date(new Date(comparison.previousTo).getTime() - 1).toISOString()),
          })}
        </p>
      )}
    </>
  )
}

/** A link to the report of the fees of the same operations. */
function FeesLink({ children }: { children: ReactNode }) {
  const shown = useShownReport()
  const search = feesSearchOf(shown)
  if (search === null) return children
  return (
    <Link
      to="/v/$code/reports/$type"
      params={{ code: shown.code, type: 'fees' }}
      search={search}
      preload={false}
      className="underline decoration-line underline-offset-4 hover:decoration-accent"
    >
      {children}
    </Link>
  )
}

type FigureProps = { name: string; change?: number | null; filters?: Drilldown | null; children: ReactNode }

function Figure({ name, change, filters = {}, children }: FigureProps) {
  return (
    <div className="rounded-lg border border-line bg-paper p-3">
      <dt className="text-[0.8125rem] text-quiet">{name}</dt>
      <dd className="figures mt-1 text-lg font-semibold [overflow-wrap:anywhere]">
        <DrilldownLink filters={filters}>{children}</DrilldownLink>
        {change !== undefined && change !== null && <Change percent={change} />}
      </dd>
    </div>
  )
}

function Change({ percent }: { percent: number }) {
  const Icon = percent < 0 ? TrendingDown : TrendingUp
  return (
    <span className="mt-0.5 flex items-center gap-1 text-[0.8125rem] font-normal text-quiet">
      <Icon size={13} aria-hidden />
      {formatPercent(percent, true)}
    </span>
  )
}

/** @param percent 12.5 for 12.5 % */
function formatPercent(percent: number, signed = false): string {
  const format = formatter(Intl.NumberFormat, {
    style: 'percent',
    maximumFractionDigits: 2,
    signDisplay: signed ? 'exceptZero' : 'auto',
  })
  return format.format(percent / 100)
}

export function formatCount(count: number): string {
  return formatter(Intl.NumberFormat).format(count)
}

export function amountsOf(assets: readonly { amount: string }[]): string[] {
  return assets.map(({ amount }) => amount)
}
