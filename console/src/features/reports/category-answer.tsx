import type { CategoryAnalyticsReport, CategoryFieldAnalytics } from '@strongroom/sdk'
import { formatAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { Usd } from '../../ui/amount.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import { AssetAmounts, Fees } from './breakdowns.tsx'
import { DrilldownLink } from './drilldown-link.tsx'
import { amountsOf, formatCount } from './figures.tsx'
import { knownUsd } from './known-usd.ts'

type Value = CategoryFieldAnalytics['values'][number]

/** The operations of a category, by the values of its fields. */
export function CategoryAnswer({ answer: { category, summary, fields } }: { answer: CategoryAnalyticsReport }) {
  return (
    <>
      <Card title={category.name}>
        <Facts
          facts={[
            [t('Operations'), <DrilldownLink key="c">{formatCount(summary.count)}</DrilldownLink>],
            [t('In'), <AssetAmounts key="i" assets={summary.incomingByAsset} />],
            [t('Out'), <AssetAmounts key="o" assets={summary.outgoingByAsset} />],
            [t('In USD'), <Usd key="u" value={usdOf(summary)} />],
            [t('Network fees'), <Fees key="f" {...summary} />],
            [
              t('Without a USD value'),
              summary.operationsWithoutUsdRate === 0 ? null : formatCount(summary.operationsWithoutUsdRate),
            ],
          ]}
        />
      </Card>
      {fields.map((field) => (
        <FieldCard key={field.key} field={field} />
      ))}
    </>
  )
}

function FieldCard({ field }: { field: CategoryFieldAnalytics }) {
  const { label, unit, values, sums, otherCount, redactedCount } = field
  const columns: Column<Value>[] = [
    { id: 'value', header: label, cell: ({ value }) => value ?? <span className="text-quiet">{t('Left empty')}</span> },
    { id: 'in', header: t('In'), align: 'end', cell: (row) => <AssetAmounts assets={row.incomingByAsset} /> },
    { id: 'out', header: t('Out'), align: 'end', cell: (row) => <AssetAmounts assets={row.outgoingByAsset} /> },
    { id: 'usd', header: t('In USD'), align: 'end', cell: (row) => <Usd value={usdOf(row)} /> },
    { id: 'fees', header: t('Network fees'), align: 'end', cell: (row) => <Fees {...row} /> },
    { id: 'count', header: t('Operations'), align: 'end', cell: ({ count }) => formatCount(count) },
  ]
  return (
    <Card title={unit === null ? label : `${label} (${unit})`}>
      {sums.length > 0 && (
        <ul className="mb-3 grid gap-1">
          {sums.map(({ currency, unit: of, count, sum, minimum, maximum }) => (
            <li key={`${currency}-${of}`} className="figures">
              {t(
                '{sum} {unit} in {count, plural, one {# operation} other {# operations}}, from {minimum} to {maximum}',
                {
                  sum: formatAmount(sum),
                  unit: currency ?? of ?? '',
                  count,
                  minimum: formatAmount(minimum),
                  maximum: formatAmount(maximum),
                },
              )}
            </li>
          ))}
        </ul>
      )}
      <SmallTable caption={label} columns={columns} rows={values} rowKey={({ value }) => value ?? ''} />
      {otherCount > 0 && (
        <p className="mt-2 text-quiet">
          {t('{count, plural, one {# operation has} other {# operations have}} other values.', { count: otherCount })}
        </p>
      )}
      {redactedCount > 0 && (
        <p className="mt-2 text-quiet">
          {t('The values of {count, plural, one {# operation} other {# operations}} are hidden from you.', {
            count: redactedCount,
          })}
        </p>
      )}
    </Card>
  )
}

function usdOf(row: Pick<Value, 'usdValue' | 'incomingByAsset' | 'outgoingByAsset'>): string | null {
  return knownUsd(row.usdValue, amountsOf([...row.incomingByAsset, ...row.outgoingByAsset]))
}
