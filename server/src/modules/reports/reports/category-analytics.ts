import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Trx } from '../../../db/client.ts'
import { Closed, described, Id, Nullable, Ref } from '../../../http/schema.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { hasCategoryRight } from '../../operations/categories/rights.ts'
import { type FeesRow, toFees } from '../activity/groups.ts'
import type { GroupRow } from '../activity/sum-operations.ts'
import { feeFigures, sumFees } from '../blocks/fees.ts'
import {
  type Activity,
  assetAmounts,
  compareFlows,
  type Fees,
  type Flow,
  flowOf,
  flowsByKey,
  type Group,
  grossUsd,
} from '../blocks/flows.ts'
import { coinIn, findAssets } from '../requests/details.ts'
import { centsOf, formatUsd } from '../requests/exact.ts'
import { countedStatusOf, isCounted, isReported, type OperationFilter } from '../requests/operation-filter.ts'
import { inSnapshot } from '../requests/reading.ts'
import { type ReportRequest, toHeader } from '../requests/report-request.ts'
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
} from '../requests/schema.ts'

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
  ...feeFigures,
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
          value: described(Nullable(Text('marketing')), 'The value; null for operations without a value.'),
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
          count: described(Count, 'Number of values in the sum.'),
          sum: described(Figure('1250.50'), 'Sum of the values.'),
          minimum: described(Figure('10.00'), 'Smallest value.'),
          maximum: described(Figure('400.00'), 'Largest value.'),
        }),
      ),
      'Sums of a number or currency field, per unit and currency, over the operations that enter sums.',
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

type AnalyticsRequest = ReportRequest & { categoryKey: string }

/**
 * Reports the values of the assignments of one category, and sums of its numbers by unit or currency.
 * @throws 404 when the vault has no such category
 */
export async function buildCategoryAnalytics(
  db: Db,
  request: AnalyticsRequest,
): Promise<Static<typeof CategoryAnalyticsReport>> {
  const { filter, categoryKey } = request
  return inSnapshot(db, async (trx) => {
    const category = orNotFound(await findCategory(trx, filter.scope.vaultId, categoryKey), 'Operation category')
    const fields = await listFields(trx, filter.scope.vaultId, category.id)
    const groups = await listGroups(trx, filter, category.id)
    const sums = await listSums(trx, filter, category.id)
    const assets = await findAssets(trx, [...new Set(groups.map(({ tokenId }) => tokenId))])
    const facts = { assets, coinOf: coinIn(assets), isCounted: countedStatusOf(filter) }
    const ofCategory = groups.filter(({ field }) => field === null)
    return {
      report: toHeader(request),
      category,
      summary: toFigures(flowOf(ofCategory, facts), ofCategory, facts),
      fields: fields.map((field) => toField(field, groups, sums, facts)),
    }
  })
}

function toField(
  field: Field,
  groups: readonly FieldGroup[],
  sums: readonly FieldSum[],
  facts: Facts,
): Static<typeof CategoryFieldAnalytics> {
  const ofField = groups.filter((group) => group.field === field.key)
  const shown = ofField.filter(({ isShown, isRedacted }) => isShown && !isRedacted)
  const countOf = (some: FieldGroup[]) => some.reduce((sum, { count }) => sum + count, 0)
  const keyed = shown.map((group) => ({ ...group, key: group.value }))
  return {
    ...field,
    values: [...flowsByKey(keyed, facts)]
      .sort(([a, flowA], [b, flowB]) => compareFlows([a ?? '', flowA], [b ?? '', flowB]))
      .map(([value, flow]) => ({
        value,
        ...toFigures(
          flow,
          keyed.filter(({ key }) => key === value),
          facts,
        ),
      })),
    otherCount: countOf(ofField.filter(({ isShown, isRedacted }) => !isShown && !isRedacted)),
    redactedCount: countOf(ofField.filter(({ isRedacted }) => isRedacted)),
    sums: sums.filter((sum) => sum.field === field.key).map(({ field: _, ...sum }) => sum),
  }
}

type Facts = Pick<Activity, 'assets' | 'coinOf' | 'isCounted'>

function toFigures(flow: Flow, groups: readonly FieldGroup[], facts: Facts) {
  const { assets } = facts
  return {
    count: flow.count,
    incomingByAsset: assetAmounts(flow.incoming, assets),
    outgoingByAsset: assetAmounts(flow.outgoing, assets),
    usdValue: formatUsd(grossUsd(flow)),
    operationsWithoutUsdRate: flow.countedCount - flow.ratedCount,
    ...sumFees(groups, facts),
  }
}

/** The number of distinct values of a field that are listed; the rest is only counted. */
const fieldValuesMax = 200

type Category = Static<typeof CategoryAnalyticsReport>['category']
type Field = Omit<Static<typeof CategoryFieldAnalytics>, 'values' | 'otherCount' | 'redactedCount' | 'sums'>
type FieldSum = Static<typeof CategoryFieldAnalytics>['sums'][number] & { field: string }

async function findCategory(trx: Trx, vaultId: string, key: string): Promise<Category | null> {
  const { rows } = await sql<Category>`
    select id, key, name from operation_categories where vault_id = ${vaultId} and key = ${key}`.execute(trx)
  return rows[0] ?? null
}

async function listFields(trx: Trx, vaultId: string, categoryId: string): Promise<Field[]> {
  const { rows } = await sql<Field>`
    select key, label, type, unit, currency_field_key as "currencyFieldKey", sensitive, archived
    from category_fields where vault_id = ${vaultId} and category_id = ${categoryId} order by order_index, id`.execute(
    trx,
  )
  return rows
}

/** Operations with one value of a field. */
type Valued = {
  /** The field; null for the whole category. */
  field: string | null
  value: string | null
  isShown: boolean
  isRedacted: boolean
}
type FieldGroup = Group & Fees & Valued

/** SQL: assignments of the category to operations of the report that the viewer may see, with their operation. */
const assigned = (filter: OperationFilter, categoryId: string) => sql`
  select a.values, o.token_id, o.type, o.status, o.amount, o.usd_value, o.fee_amount, o.fee_usd_value,
    ${isCounted(filter)} as is_counted, ${hasCategoryRight(filter.scope, 'edit', 'c', 'o')} as is_readable
  from category_assignments a
  join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id
  join operations o on o.vault_id = a.vault_id and o.id = a.operation_id
  where a.vault_id = ${filter.scope.vaultId} and a.category_id = ${categoryId}
    and ${hasCategoryRight(filter.scope, 'view', 'c', 'o')} and ${isReported(filter)}`

/**
 * SQL: the fields `f` of the category, with the field `y` that holds the currency of an amount. An amount is as sensitive as its
 * currency, because its sum names it.
 */
const fieldsOf = (filter: OperationFilter, categoryId: string) => sql`(
  select f.*, f.sensitive or coalesce(y.sensitive, false) as is_withheld from category_fields f
  left join category_fields y on y.vault_id = f.vault_id and y.category_id = f.category_id and y.key = f.currency_field_key
  where f.vault_id = ${filter.scope.vaultId} and f.category_id = ${categoryId})`

/** Adds up the operations by each value of each field. Of numbers and amounts it has only those that the viewer may not see. */
async function listGroups(trx: Trx, filter: OperationFilter, categoryId: string): Promise<FieldGroup[]> {
  const fees = sql`sum(fee_amount) as fees, sum(fee_usd_value) as "feesUsd"`
  const figures = sql`count(*) as count, sum(amount) as amount, sum(usd_value) as usd, count(usd_value) as rated, ${fees}`
  const { rows } = await sql<GroupRow & FeesRow & Valued>`
    with assigned as materialized (${assigned(filter, categoryId)}),
    grouped as (
      select f.key as field, f.is_withheld and not x.is_readable as is_redacted,
        case when f.is_withheld and not x.is_readable then null else x.values ->> f.key end as value,
        x.token_id, x.type, x.status, ${figures}
      from assigned x join ${fieldsOf(filter, categoryId)} f
        on f.type not in ('number', 'currency') or (f.is_withheld and not x.is_readable)
      group by 1, 2, 3, 4, 5, 6
    ), sized as (
      select grouped.*, sum(count) over (partition by field, is_redacted, value) as size from grouped
    ), ranked as (
      select sized.*, dense_rank() over (partition by field, is_redacted order by size desc, value nulls first) as rank from sized
    )
    select null as field, null as value, true as "isShown", false as "isRedacted", token_id as "tokenId", type, status,
      count(*)::float8 as count, sum(amount) as amount, sum(usd_value) as usd, count(usd_value)::float8 as rated,
      ${fees}
    from assigned group by token_id, type, status
    union all
    select field, case when rank <= ${fieldValuesMax} then value end, rank <= ${fieldValuesMax}, is_redacted, token_id, type, status,
      sum(count)::float8, sum(amount), sum(usd), sum(rated)::float8, sum(fees), sum("feesUsd")
    from ranked group by 1, 2, 3, 4, 5, 6, 7`.execute(trx)
  return rows.map((row) => ({ ...row, ...toFees(row), amount: BigInt(row.amount), usd: centsOf(row.usd) }))
}

/**
 * Sums numbers by the unit of their field, and amounts by their currency, so that currencies are never added up. Only operations
 * that count have a part in them.
 */
async function listSums(trx: Trx, filter: OperationFilter, categoryId: string): Promise<FieldSum[]> {
  const { rows } = await sql<FieldSum>`
    with assigned as materialized (${assigned(filter, categoryId)}),
    numbers as (
      select f.key as field, f.unit, x.values ->> f.currency_field_key as currency, (x.values ->> f.key)::numeric as value
      from assigned x join ${fieldsOf(filter, categoryId)} f on f.type in ('number', 'currency')
      where x.is_counted and x.values ->> f.key is not null and (x.is_readable or not f.is_withheld)
    )
    select field, unit, currency, count(*)::float8 as count, sum(value) as sum, min(value) as minimum, max(value) as maximum
    from numbers group by field, unit, currency order by field, unit nulls first, currency nulls first
    limit 1000`.execute(trx)
  return rows
}
