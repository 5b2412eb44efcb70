import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Member } from '../../../../access/caller.ts'
import type { Db, Trx } from '../../../../db/client.ts'
import type { OperationStatus, OperationType } from '../../../../lib/operations.ts'
import { orNotFound } from '../../../../lib/or-not-found.ts'
import { hasCategoryRight } from '../../../operations/assignments/rights.ts'
import {
  type Activity,
  type Asset,
  assetAmounts,
  compareFlows,
  type Flow,
  flowOf,
  flowsByKey,
  type Group,
  grossUsd,
} from '../activity.ts'
import type { Interval } from '../buckets.ts'
import { findAssets } from '../details.ts'
import { centsOf, formatUsd } from '../exact.ts'
import { countedStatusOf, isReported, type OperationFilter } from '../operation-filter.ts'
import { inSnapshot, type ReportRequest, readReportRequest, toHeader } from '../request.ts'
import type { CategoryAnalyticsQuery, CategoryAnalyticsReport, CategoryFieldAnalytics } from './schema.ts'

type AnalyticsRequest = ReportRequest & { categoryKey: string }

/** @throws 400 naming the parameter, 403 when a caller who is no administrator names another user */
export function readAnalyticsRequest(
  type: string,
  member: Member,
  query: Static<typeof CategoryAnalyticsQuery>,
  now: Date,
): AnalyticsRequest {
  return { ...readReportRequest(type, member, query, now), categoryKey: query.categoryKey }
}

/**
 * The values of the assignments of one category, and sums of its numbers by unit or currency.
 *
 * @throws 404 when the vault has no such category
 */
export async function buildCategoryAnalytics(
  db: Db,
  request: AnalyticsRequest,
): Promise<Static<typeof CategoryAnalyticsReport>> {
  const { filter, interval, categoryKey } = request
  return inSnapshot(db, async (trx) => {
    const category = orNotFound(await findCategory(trx, filter.scope.vaultId, categoryKey), 'Operation category')
    const fields = await listFields(trx, filter.scope.vaultId, category.id)
    const groups = await listGroups(trx, filter, interval, category.id)
    const sums = await listSums(trx, filter, interval, category.id)
    const assets = await findAssets(trx, [...new Set(groups.map(({ tokenId }) => tokenId))])
    const isCounted = countedStatusOf(filter)
    const ofCategory = groups.filter(({ field }) => field === null)
    return {
      report: toHeader(request),
      category,
      summary: toFigures(flowOf(ofCategory, { isCounted }), assets),
      fields: fields.map((field) => toField(field, groups, sums, { assets, isCounted })),
    }
  })
}

function toField(
  field: FieldRow,
  groups: readonly FieldGroup[],
  sums: readonly FieldSum[],
  { assets, isCounted }: Pick<Activity, 'assets' | 'isCounted'>,
): Static<typeof CategoryFieldAnalytics> {
  const ofField = groups.filter((group) => group.field === field.key)
  const shown = ofField.filter(({ isShown, isRedacted }) => isShown && !isRedacted)
  const countOf = (some: FieldGroup[]) => some.reduce((sum, { count }) => sum + count, 0)
  const keyed = shown.map((group) => ({ ...group, key: group.value }))
  return {
    ...field,
    values: [...flowsByKey(keyed, { isCounted })]
      .sort(([a, flowA], [b, flowB]) => compareFlows([a ?? '', flowA], [b ?? '', flowB]))
      .map(([value, flow]) => ({ value, ...toFigures(flow, assets) })),
    otherCount: countOf(ofField.filter(({ isShown, isRedacted }) => !isShown && !isRedacted)),
    redactedCount: countOf(ofField.filter(({ isRedacted }) => isRedacted)),
    sums: sums.filter((sum) => sum.field === field.key).map(({ field: _, ...sum }) => sum),
  }
}

function toFigures(flow: Flow, assets: ReadonlyMap<string, Asset>) {
  return {
    count: flow.count,
    incomingByAsset: assetAmounts(flow.incoming, assets),
    outgoingByAsset: assetAmounts(flow.outgoing, assets),
    usdValue: formatUsd(grossUsd(flow)),
    operationsWithoutUsdRate: flow.countedCount - flow.ratedCount,
  }
}

/** How many distinct values of a field are listed; the rest is only counted. */
export const fieldValuesMax = 200

type CategoryRow = { id: string; key: string; name: string }
export type FieldRow = {
  key: string
  label: string
  type: string
  unit: string | null
  currencyFieldKey: string | null
  sensitive: boolean
  archived: boolean
}

export async function findCategory(trx: Trx, vaultId: string, key: string): Promise<CategoryRow | null> {
  const { rows } = await sql<CategoryRow>`
    select id, key, name from operation_categories where vault_id = ${vaultId} and key = ${key}`.execute(trx)
  return rows[0] ?? null
}

export async function listFields(trx: Trx, vaultId: string, categoryId: string): Promise<FieldRow[]> {
  const { rows } = await sql<FieldRow>`
    select key, label, type, unit, currency_field_key as "currencyFieldKey", sensitive, archived
    from category_fields where vault_id = ${vaultId} and category_id = ${categoryId} order by order_index, id`.execute(
    trx,
  )
  return rows
}

export type FieldGroup = Group & {
  /** null: the whole category. */
  field: string | null
  value: string | null
  isShown: boolean
  isRedacted: boolean
}

/** SQL: assignments of the category to operations of the report that the viewer may see, with their operation. */
const assigned = (filter: OperationFilter, interval: Interval, categoryId: string) => sql`
  select a.values, o.token_id, o.type, o.status, o.amount, o.usd_value, ${hasCategoryRight(filter.scope, 'edit', 'c', 'o')} as is_readable
  from category_assignments a
  join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id
  join operations o on o.vault_id = a.vault_id and o.id = a.operation_id
  where a.vault_id = ${filter.scope.vaultId} and a.category_id = ${categoryId}
    and ${hasCategoryRight(filter.scope, 'view', 'c', 'o')} and ${isReported(filter, interval)}`

export async function listGroups(
  trx: Trx,
  filter: OperationFilter,
  interval: Interval,
  categoryId: string,
): Promise<FieldGroup[]> {
  type Row = {
    field: string | null
    value: string | null
    is_shown: boolean
    is_redacted: boolean
    token_id: string
    type: OperationType
    status: OperationStatus
    count: number
    amount: string
    usd: string | null
    rated: number
  }
  const figures = sql`count(*) as count, sum(amount) as amount, sum(usd_value) as usd, count(usd_value) as rated`
  const { rows } = await sql<Row>`
    with assigned as materialized (${assigned(filter, interval, categoryId)}),
    grouped as (
      select f.key as field, f.sensitive and not x.is_readable as is_redacted,
        case when f.sensitive and not x.is_readable then null else x.values ->> f.key end as value,
        x.token_id, x.type, x.status, ${figures}
      from assigned x join category_fields f on f.vault_id = ${filter.scope.vaultId} and f.category_id = ${categoryId}
        and f.type not in ('number', 'currency')
      group by 1, 2, 3, 4, 5, 6
    ), sized as (
      select grouped.*, sum(count) over (partition by field, is_redacted, value) as size from grouped
    ), ranked as (
      select sized.*, dense_rank() over (partition by field, is_redacted order by size desc, value nulls first) as rank from sized
    )
    select null as field, null as value, true as is_shown, false as is_redacted, token_id, type, status,
      count(*)::float8 as count, sum(amount) as amount, sum(usd_value) as usd, count(usd_value)::float8 as rated
    from assigned group by token_id, type, status
    union all
    select field, case when rank <= ${fieldValuesMax} then value end, rank <= ${fieldValuesMax}, is_redacted, token_id, type, status,
      sum(count)::float8, sum(amount), sum(usd), sum(rated)::float8
    from ranked group by 1, 2, 3, 4, 5, 6, 7`.execute(trx)
  return rows.map((row) => ({
    field: row.field,
    value: row.value,
    isShown: row.is_shown,
    isRedacted: row.is_redacted,
    tokenId: row.token_id,
    type: row.type,
    status: row.status,
    count: row.count,
    amount: BigInt(row.amount),
    usd: centsOf(row.usd),
    rated: row.rated,
  }))
}

export type FieldSum = {
  field: string
  unit: string | null
  currency: string | null
  count: number
  sum: string
  minimum: string
  maximum: string
}

/** Sums of numbers by the unit of their field, of amounts by their currency, so that currencies are never added up. */
export async function listSums(
  trx: Trx,
  filter: OperationFilter,
  interval: Interval,
  categoryId: string,
): Promise<FieldSum[]> {
  const { rows } = await sql<FieldSum>`
    with assigned as materialized (${assigned(filter, interval, categoryId)}),
    numbers as (
      select f.key as field, f.unit, x.values ->> f.currency_field_key as currency, (x.values ->> f.key)::numeric as value
      from assigned x
      join category_fields f on f.vault_id = ${filter.scope.vaultId} and f.category_id = ${categoryId}
        and f.type in ('number', 'currency')
      left join category_fields y on y.vault_id = f.vault_id and y.category_id = f.category_id and y.key = f.currency_field_key
      where x.values ->> f.key is not null and (x.is_readable or not (f.sensitive or coalesce(y.sensitive, false)))
    )
    select field, unit, currency, count(*)::float8 as count, sum(value) as sum, min(value) as minimum, max(value) as maximum
    from numbers group by field, unit, currency order by field, unit nulls first, currency nulls first
    limit 1000`.execute(trx)
  return rows
}
