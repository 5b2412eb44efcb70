import { sql } from 'kysely'
import type { Trx } from '../../../../db/client.ts'
import type { OperationStatus, OperationType } from '../../../../lib/operations.ts'
import { hasCategoryRight } from '../../../operations/assignments/visibility.ts'
import type { Group } from '../activity.ts'
import type { Interval } from '../buckets.ts'
import { centsOf } from '../exact.ts'
import { isReported, type OperationFilter } from '../operation-filter.ts'

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
