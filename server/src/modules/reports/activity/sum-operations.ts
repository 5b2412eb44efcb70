import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import type { OperationType } from '../../../lib/operations.ts'
import { hasCategoryRightIf, isOwnOperation } from '../../operations/categories/rights.ts'
import { type Compared, emptySide, type Side } from '../blocks/comparison.ts'
import { type Faults, faultNames, type Group, type Keyed, type Overall } from '../blocks/flows.ts'
import { centsOf } from '../requests/exact.ts'
import {
  type Classification,
  dateOf,
  isAmong,
  isCounted,
  isReported,
  laterMatches,
  mayBeReported,
  type OperationFilter,
} from '../requests/operation-filter.ts'
import { avoiding } from '../requests/reading.ts'
import { lacksBlockchainTime, lacksBusinessReference, lacksPaymentPurpose } from './statistics.ts'

/** Sums of operations as SQL returns them. */
export type GroupRow = Omit<Group, 'amount' | 'usd'> & { amount: string; usd: string | null }

type Row = GroupRow & {
  breakdown: keyof Groups
  /** The day as a number, an id or a key; null in the row of `overall`. */
  key: string | null
}

/** Columns of `overall`; null in the rows of all breakdowns. */
type OverallRow = Row & Faults & { largestUsd: string | null; firstAt: Date; lastAt: Date }

export type Groups = {
  overall: Overall[]
  byDay: Keyed<number>[]
  byAddress: Keyed<string>[]
  byCounterparty: Keyed<string | null>[]
  byCategory: Keyed<string | null>[]
}

/**
 * All operations of the report in one pass, summed by every property that a block is broken down by. The intermediate
 * sums stay in PostgreSQL; the result grows with days, addresses, counterparties and categories, not with operations.
 *
 * @param dayStarts the first instant of every day of the interval, in order
 */
export async function sumOperations(trx: Trx, filter: OperationFilter, dayStarts: readonly Date[]): Promise<Groups> {
  const { vaultId } = filter.scope
  const has = await findSideTables(trx, filter)
  const onlyAddressId = onlyAddressIdOf(filter)
  const breakdowns = [
    sumsBy('byDay', sql`day`, sql`classified`),
    sumsBy('byCounterparty', sql`chosen_id`, sql`parties`),
    ...(onlyAddressId === undefined ? [sumsBy('byAddress', sql`address_id`, sql`classified`)] : []),
    ...(has.assignments ? [sumsBy('byCategory', sql`category`, sql`classified`)] : []),
  ]
  const later = laterMatches(filter, { entries: mayBeLater(filter), operations: mayBeReported(filter) })
  const statement = sql<OverallRow>`
    with ${has.laterEntries ? sql`later as materialized (${later}),` : sql``}
    ${has.assignments ? sql`firsts as materialized (${firstCategories(filter)}),` : sql``}
    cells as (${cellsOf(filter, dayStarts, has)}
    ), found as (
      select cells.*, ${has.laterEntries ? sql`coalesce(cells.later_id, s.counterparty_id)` : sql`s.counterparty_id`} as current_id
        ${has.assignments ? sql`` : sql`, null::text as category`}
      from cells left join counterparty_addresses s on s.vault_id = ${vaultId} and s.id = cells.counterparty_address_id
    ), classified as materialized (
      select found.*, ${chosenId(filter.counterpartyClassification)} as chosen_id from found
    ), parties as materialized (
      select token_id, type, status, chosen_id,
        sum(count) as count, sum(amount) as amount, sum(usd) as usd, sum(rated) as rated,
        max("largestUsd") as "largestUsd", min("firstAt") as "firstAt", max("lastAt") as "lastAt",
        sum("withoutBlockchainTime") as "withoutBlockchainTime",
        sum("withoutPaymentPurpose") as "withoutPaymentPurpose",
        sum("withoutBusinessReference") as "withoutBusinessReference",
        sum(case when category is null then count else 0 end) as uncategorized,
        sum(case when chosen_id is null then external else 0 end) as unmatched,
        sum(case when counterparty_id is null and current_id is not null then count else 0 end) as "retroactivelyMatched",
        sum(case when counterparty_id <> current_id then count else 0 end) as "conflictingCounterparty",
        sum(case when counterparty_id is distinct from current_id then count else 0 end) as reclassified
      from classified group by token_id, type, status, chosen_id
    )
    select 'overall' as breakdown, token_id as "tokenId", type, status, null as key, ${sums},
      max("largestUsd") as "largestUsd", min("firstAt") as "firstAt", max("lastAt") as "lastAt",
      ${sql.join(faultNames.map((name) => sql`sum(${sql.ref(name)})::float8 as ${sql.ref(name)}`))}
    from parties group by token_id, type, status
    union all ${sql.join(breakdowns, sql` union all `)}`
  const { rows } = await avoiding(trx, ['nestloop'], () => statement.execute(trx))
  const overall = rows.filter(({ breakdown }) => breakdown === 'overall').map(toOverall)
  const keyed = (wanted: keyof Groups) =>
    rows.filter(({ breakdown }) => breakdown === wanted).map((row) => ({ ...toGroup(row), key: row.key }))
  return {
    overall,
    byDay: keyed('byDay').map((group) => ({ ...group, key: Number(group.key) })),
    byAddress:
      onlyAddressId === undefined
        ? keyed('byAddress').map((group) => ({ ...group, key: group.key! }))
        : overall.map((group) => ({ ...group, key: onlyAddressId })),
    byCounterparty: keyed('byCounterparty'),
    byCategory: has.assignments ? keyed('byCategory') : overall.map((group) => ({ ...group, key: null })),
  }
}

/** The one address of all operations of the report, if its filters name one. */
const onlyAddressIdOf = (filter: OperationFilter) => filter.addressIdLists.find((ids) => ids.length === 1)?.[0]

/** SQL: the operations of the report, summed by every combination of the properties that they are broken down by. */
function cellsOf(filter: OperationFilter, dayStarts: readonly Date[], has: SideTables): RawBuilder<unknown> {
  const date = dateOf(filter)
  // As seconds, because PostgreSQL looks up doubles much faster than timestamps; milliseconds fit exactly enough.
  const starts = dayStarts.map((start) => start.getTime() / 1000)
  const keys = [
    sql`o.token_id`,
    sql`o.type`,
    sql`o.status`,
    sql`width_bucket(date_part('epoch', ${date}), ${starts}::float8[]) - 1 as day`,
    sql`o.counterparty_id`,
    sql`o.counterparty_address_id`,
  ]
  // Every key costs time over a million rows, so a value that is the same for all of them is not a key.
  if (onlyAddressIdOf(filter) === undefined) keys.push(sql`o.address_id`)
  if (has.laterEntries) keys.push(sql`later.counterparty_id as later_id`)
  if (has.assignments) {
    keys.push(sql`case when ${isOwnOperation(filter.scope, 'o')} then firsts.own else firsts.others end as category`)
  }
  return sql`
      select ${sql.join(keys)},
        count(*) as count, sum(o.amount) as amount, sum(o.usd_value) as usd, count(o.usd_value) as rated,
        max(o.usd_value) as "largestUsd", min(${date}) as "firstAt", max(${date}) as "lastAt",
        count(*) filter (where ${lacksBlockchainTime}) as "withoutBlockchainTime",
        count(*) filter (where ${lacksPaymentPurpose}) as "withoutPaymentPurpose",
        count(*) filter (where ${lacksBusinessReference}) as "withoutBusinessReference",
        count(*) filter (where o.flow_type = 'external') as external
      from operations o
      ${has.laterEntries ? sql`left join later on later.id = o.id` : sql``}
      ${has.assignments ? sql`left join firsts on firsts.operation_id = o.id` : sql``}
      where ${isReported(filter)}
      group by ${sql.join(keys.map((_, index) => sql.lit(index + 1)))}`
}

const sums = sql`sum(count)::float8 as count, sum(amount) as amount, sum(usd) as usd, sum(rated)::float8 as rated`

/** SQL: the sums of `source` by `key`, without the columns that only the whole needs. */
function sumsBy(breakdown: keyof Groups, key: RawBuilder<unknown>, source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select ${sql.lit(breakdown)}, token_id, type, status, ${key}::text, ${sums},
      null, null, null, ${sql.join(faultNames.map(() => sql`null`))}
    from ${source} group by token_id, type, status, ${key}`
}

const chosenId = (classification: Classification) =>
  classification === 'current' ? sql`current_id` : sql`counterparty_id`

type SideTables = { laterEntries: boolean; assignments: boolean }

/** SQL condition: the entry `s` of the address book may be newer than an operation of the report. */
const mayBeLater = ({ dateBasis, interval }: OperationFilter) =>
  dateBasis === 'createdAt' ? sql`s.created_at >= ${interval.from}` : sql`true`

/** Whether there are newer entries of the address book, and assigned categories, at all: most vaults have none. */
async function findSideTables(trx: Trx, filter: OperationFilter): Promise<SideTables> {
  const { vaultId } = filter.scope
  const { rows } = await sql<SideTables>`
    select exists (select from counterparty_addresses s where s.vault_id = ${vaultId} and ${mayBeLater(filter)}) as "laterEntries",
      exists (select from category_assignments a where a.vault_id = ${vaultId}) as assignments`.execute(trx)
  return rows[0]!
}

/**
 * SQL: the key of the first category of each operation that the viewer may see: on an operation of the viewer (`own`), and
 * on one of somebody else (`others`). One pass over the assignments, because a look at those of each operation takes
 * the square of the time when PostgreSQL expects few of them.
 */
function firstCategories(filter: OperationFilter): RawBuilder<unknown> {
  const { scope } = filter
  const first = (isOwn: boolean) => sql`
    (array_agg(c.key order by a.position, a.created_at, a.id)
      filter (where ${hasCategoryRightIf(scope, 'view', 'c', sql.lit(isOwn))}))[1]`
  return sql`
    select a.operation_id, ${first(true)} as own, ${first(false)} as others
    from category_assignments a
    join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id
    where a.vault_id = ${scope.vaultId} and ${isAmong(filter, 'a.operation_id')}
    group by a.operation_id`
}

export function toGroup({ tokenId, type, status, count, amount, usd, rated }: GroupRow): Group {
  return { tokenId, type, status, count, amount: BigInt(amount), usd: centsOf(usd), rated }
}

function toOverall(row: OverallRow): Overall {
  const { largestUsd, firstAt, lastAt } = row
  return {
    ...toGroup(row),
    largestUsd: largestUsd === null ? null : centsOf(largestUsd),
    firstAt,
    lastAt,
    faults: Object.fromEntries(faultNames.map((name) => [name, row[name]])) as Faults,
  }
}

/** Operations and USD of an interval, for comparison. */
export async function compareOperations(trx: Trx, filter: OperationFilter): Promise<Compared> {
  const { rows } = await sql<Omit<Side, 'usd'> & { type: OperationType; usd: string | null }>`
    select o.type, count(*)::float8 as operations,
      count(*) filter (where ${isCounted(filter)})::float8 as counted,
      count(o.usd_value) filter (where ${isCounted(filter)})::float8 as rated,
      sum(o.usd_value) filter (where ${isCounted(filter)}) as usd
    from operations o where ${isReported(filter)}
    group by o.type`.execute(trx)
  const sideOf = (type: OperationType): Side => {
    const row = rows.find((one) => one.type === type)
    return row === undefined ? emptySide : { ...row, usd: centsOf(row.usd) }
  }
  return { incoming: sideOf('deposit'), outgoing: sideOf('transfer') }
}
