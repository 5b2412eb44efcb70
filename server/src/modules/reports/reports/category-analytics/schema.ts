import { Type } from 'typebox'
import { Closed, Id, Nullable, Ref } from '../../../../http/schema.ts'
import { BreakdownIgnored, commonQuery, filters } from '../query-schema.ts'
import { AssetAmounts, Count, Figure, ReportHeader, Text, Usd } from '../schema.ts'

export const CategoryAnalyticsQuery = Closed({
  ...commonQuery,
  ...filters,
  categoryKey: Type.String({ minLength: 1, maxLength: 64, examples: ['payroll'] }),
  breakdownBy: BreakdownIgnored,
})

const categoryFigures = {
  count: Count,
  incomingByAsset: AssetAmounts,
  outgoingByAsset: AssetAmounts,
  usdValue: Usd,
}

export const CategoryFieldAnalytics = Closed(
  {
    key: Text('cost_centre'),
    label: Text('Cost centre'),
    type: Text('select'),
    unit: Nullable(Text('h')),
    currencyFieldKey: Nullable(Text('currency')),
    sensitive: Type.Boolean({ examples: [false] }),
    archived: Type.Boolean({ examples: [false] }),
    values: Type.Array(Closed({ value: Nullable(Text('marketing')), ...categoryFigures })),
    otherCount: Count,
    redactedCount: Count,
    sums: Type.Array(
      Closed({
        unit: Nullable(Text('h')),
        currency: Nullable(Text('EUR')),
        count: Count,
        sum: Figure('1250.50'),
        minimum: Figure('10.00'),
        maximum: Figure('400.00'),
      }),
    ),
  },
  { $id: 'CategoryFieldAnalytics' },
)

export const CategoryAnalyticsReport = Closed(
  {
    report: Ref(ReportHeader),
    category: Closed({ id: Id, key: Text('payroll'), name: Text('Payroll') }),
    summary: Closed(categoryFigures),
    fields: Type.Array(Ref(CategoryFieldAnalytics)),
  },
  { $id: 'CategoryAnalyticsReport' },
)
