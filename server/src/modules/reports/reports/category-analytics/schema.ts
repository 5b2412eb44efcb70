import { Type } from 'typebox'
import { Closed, described, Id, Nullable, Ref } from '../../../../http/schema.ts'
import {
  AssetAmounts,
  BreakdownIgnored,
  Count,
  commonQuery,
  Figure,
  filters,
  ReportHeader,
  Text,
  Usd,
} from '../schema.ts'

export const CategoryAnalyticsQuery = Closed({
  ...commonQuery,
  ...filters,
  categoryKey: described(
    Type.String({ minLength: 1, maxLength: 64, examples: ['payroll'] }),
    'Key of the category that the report is about.',
  ),
  breakdownBy: BreakdownIgnored,
})

const categoryFigures = {
  count: Count,
  incomingByAsset: AssetAmounts,
  outgoingByAsset: AssetAmounts,
  usdValue: described(Usd, 'Sum of the USD values; operations without a rate are left out.'),
  operationsWithoutUsdRate: Type.Integer({
    minimum: 0,
    description: 'Operations in the sums that have no USD value; `usdValue` leaves them out.',
    examples: [0],
  }),
}

export const CategoryFieldAnalytics = Closed(
  {
    key: described(Text('cost_centre'), 'Key of the field in the category.'),
    label: described(Text('Cost centre'), 'Label of the field for people to read.'),
    type: described(Text('select'), 'Type of the values.'),
    unit: Nullable(Text('h')),
    currencyFieldKey: Nullable(Text('currency')),
    sensitive: Type.Boolean({ examples: [false] }),
    archived: Type.Boolean({ examples: [false] }),
    values: described(
      Type.Array(
        Closed({
          value: described(Nullable(Text('marketing')), 'The value; null for operations without one.'),
          ...categoryFigures,
        }),
      ),
      'Figures per value.',
    ),
    otherCount: described(Count, 'Number of operations whose values are not listed.'),
    redactedCount: described(Count, 'Number of operations whose value the caller may not see.'),
    sums: described(
      Type.Array(
        Closed({
          unit: Nullable(Text('h')),
          currency: described(Nullable(Text('EUR')), 'Currency of the values; null for a number field.'),
          count: Count,
          sum: described(Figure('1250.50'), 'Sum of the values.'),
          minimum: described(Figure('10.00'), 'Smallest value.'),
          maximum: described(Figure('400.00'), 'Largest value.'),
        }),
      ),
      'Sums of a number or currency field, per unit and currency.',
    ),
  },
  { $id: 'CategoryFieldAnalytics' },
)

export const CategoryAnalyticsReport = Closed(
  {
    report: Ref(ReportHeader),
    category: described(
      Closed({ id: Id, key: described(Text('payroll'), 'Key of the category.'), name: Text('Payroll') }),
      'The category that the report is about.',
    ),
    summary: described(Closed(categoryFigures), 'Figures over all operations of the category.'),
    fields: described(Type.Array(Ref(CategoryFieldAnalytics)), 'Figures per field of the category.'),
  },
  { $id: 'CategoryAnalyticsReport' },
)
