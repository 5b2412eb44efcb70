import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { reportedOperationsAsideMax } from '../../../lib/limits.ts'
import type { OperationType } from '../../../lib/operations.ts'
import { isOwnOperation } from '../../operations/categories/rights.ts'
import { type Compared, emptySide, type Side } from '../blocks/comparison.ts'
import { type Faults, faultNames, type Group, type Overall } from '../blocks/flows.ts'
import { centsOf } from '../requests/exact.ts'
import {
  type Classification,
  dateOf,
  isCounted,
  isReported,
  isWithCounterparties,
  laterEntries,
  mayBeReported,
  type OperationFilter,
} from '../requests/operation-filter.ts'
import { avoiding } from '../requests/reading.ts'
import { readFewOperations, sumFewOperations } from './few-operations.ts'
import { type FeesRow, type Groups, inOrder, toFees } from './groups.ts'
import { findSideTables, firstCategories, mayBeLater, type SideTables, stepsNotToSumBy } from './side-tables.ts'
import { lacksBlockchainTime, lacksBusinessReference, lacksFeeUsdRate, lacksPaymentPurpose } from './statistics.ts'

/** Sums of operations in the form of SQL. */
export type GroupRow = Omit<Group, 'amount' | 'usd'> & { amount: string; usd: string | null }

type Row = GroupRow &
  FeesRow & {
    breakdown: keyof Groups
    /** The day as a number, an id or a key; null in the row of `overall`. */
    key: string | null
  }

/** Columns of `overall`; null in the rows of all breakdowns. */
type OverallRow = Row & Faults & { largestUsd: string | null; firstAt: Date; lastAt: Date }

/** Sums the operations of the report. @param dayStarts the first instant of every day of the interval, in order */
export async function sumOperations(trx: Trx, filter: OperationFilter, dayStarts: readonly Date[]): Promise<Groups> {
  const few = await readFewOperations(trx, filter)
  return few === null ? sumManyOperations(trx, filter, dayStarts) : sumFewOperations(few, filter, dayStarts)
}

/**
 * Sums all operations of the report by every property that a block breaks down by. The intermediate sums stay in PostgreSQL;
 * the result grows with days, addresses, counterparties and categories, not with operations. A pass sums by few properties at a
 * time: a pass over all combinations of days and counterparties would keep nearly as many rows as it reads. A later entry of
 * the address book and a category concern few operations, so they are not a property of a pass. Those operations are summed
 * separately and moved to the sum where they belong.
 *
 * @param dayStarts the first instant of every day of the interval, in order
 */
export async function sumManyOperations(
  trx: Trx,
  filter: OperationFilter,
  dayStarts: readonly Date[],
): Promise<Groups> {
  const { sides, rows } = await avoiding(trx, stepsNotToSumBy, async () => {
    const found = await findSides(trx, filter)
    return { sides: found, rows: (await statementOf(filter, dayStarts, found).execute(trx)).rows }
  })
  const overall = inOrder(rows.filter(({ breakdown }) => breakdown === 'overall').map(toOverall))
  const keyed = (wanted: keyof Groups) =>
    inOrder(rows.filter(({ breakdown }) => breakdown === wanted).map((row) => ({ ...toGroup(row), key: row.key })))
  const keyedBy = <Key>(key: Key) =>
    overall.map(({ tokenId, type, status, count, amount, usd, rated }) => ({
      ...{ tokenId, type, status, count, amount, usd, rated, key },
    }))
  const withFees = rows.filter(({ breakdown }) => breakdown === (sides.assignments > 0 ? 'byCategory' : 'overall'))
  const onlyAddressId = onlyAddressIdOf(filter)
  return {
    overall,
    byDay: keyed('byDay').map((group) => ({ ...group, key: Number(group.key) })),
    byAddress:
      onlyAddressId === undefined
        ? keyed('byAddress').map((group) => ({ ...group, key: group.key! }))
        : keyedBy(onlyAddressId),
    byCounterparty: keyed('byCounterparty'),
    byRecorded: keyed('byRecorded'),
    byCategory: inOrder(withFees.map((row) => ({ ...toGroup(row), ...toFees(row), key: row.key }))),
  }
}

/** Returns the address of all operations of the report, if its filters name only one. */
const onlyAddressIdOf = (filter: OperationFilter) => filter.addressIdLists.find((ids) => ids.length === 1)?.[0]

/** SQL after `from`: the operations of the report. */
const reported = (filter: OperationFilter) => sql`operations o where ${isReported(filter)}`

function statementOf(requested: OperationFilter, dayStarts: readonly Date[], sides: Sides): RawBuilder<OverallRow> {
  const filter = sides.laterEntries ? { ...requested, later: sql`later` } : requested
  const hasAssignments = sides.assignments > 0
  const tables = [
    ...(sides.laterEntries ? [sql`entries as materialized (${entriesOf(requested, sides.entries)})`] : []),
    ...(hasAssignments ? [sql`firsts as materialized (${firstCategories(requested)})`] : []),
    ...(sides.laterEntries || hasAssignments ? [sql`aside as materialized (${asideOf(requested, sides)})`] : []),
    ...(sides.laterEntries
      ? [
          sql`later as materialized (select id, later_id as counterparty_id from aside where later_id is not null)`,
          sql`moved as materialized (${movedOf(filter)})`,
        ]
      : []),
    ...(hasAssignments ? [sql`assigned as materialized (${assignedOf(filter)})`] : []),
    sql`classified as materialized (${classifiedOf(filter, sides)})`,
    sql`parties as materialized (${partiesOf(filter)})`,
  ]
  const breakdowns = [
    sumsBy('byDay', sql`day`, pass(filter, sql`${dayOf(filter, dayStarts)} as day`)),
    sumsBy('byCounterparty', sql`chosen_id`, sql`parties`),
    sumsBy('byRecorded', sql`counterparty_id`, sql`classified`),
    ...(onlyAddressIdOf(filter) === undefined
      ? [sumsBy('byAddress', sql`address_id`, pass(filter, sql`o.address_id`))]
      : []),
    ...(hasAssignments ? [sumsBy('byCategory', sql`category`, categories, feeSums)] : []),
  ]
  return sql<OverallRow>`
    with ${sql.join(tables)}
    select 'overall' as breakdown, token_id as "tokenId", type, status, null as key, ${sums}, ${feeSums},
      max("largestUsd") as "largestUsd", min("firstAt") as "firstAt", max("lastAt") as "lastAt",
      ${sql.join(faultNames.map((name) => sql`sum(${sql.ref(name)})::float8 as ${sql.ref(name)}`))}
    from parties group by token_id, type, status
    union all ${sql.join(breakdowns, sql` union all `)}`
}

/** SQL: the number of the day of the operation `o`. */
export function dayOf(filter: OperationFilter, dayStarts: readonly Date[]): RawBuilder<unknown> {
  // The times are seconds, because PostgreSQL looks up doubles much faster than timestamps; milliseconds fit exactly enough.
  const starts = dayStarts.map((start) => start.getTime() / 1000)
  return sql`width_bucket(date_part('epoch', ${dateOf(filter)}), ${starts}::float8[]) - 1`
}

const figures = sql`count(*) as count, sum(o.amount) as amount, sum(o.usd_value) as usd, count(o.usd_value) as rated`

/** SQL: the booked fees of operations. */
const feeFigures = sql`sum(o.fee_amount) as fees, sum(o.fee_usd_value) as "feesUsd"`

/** SQL: the operations of the report, summed by one property. */
const pass = (filter: OperationFilter, key: RawBuilder<unknown>) => sql`(
  select o.token_id, o.type, o.status, ${key}, ${figures} from ${reported(filter)} group by 1, 2, 3, 4) pass`

type LaterEntry = { id: string; entry_id: string; counterparty_id: string; network_id: string }

/** The facts of few operations. `entries` are the rows of `laterEntries`; null if they are too many to be looked up. */
type Sides = SideTables & { entries: LaterEntry[] | null; isLookedUp: boolean }

async function findSides(trx: Trx, filter: OperationFilter): Promise<Sides> {
  const tables = await findSideTables(trx, filter, reportedOperationsAsideMax + 1)
  if (!tables.laterEntries)
    return { ...tables, entries: [], isLookedUp: tables.assignments <= reportedOperationsAsideMax }
  const { rows } = await sql<LaterEntry>`
    select * from (${laterEntries(filter, mayBeLater(filter))}) later limit ${reportedOperationsAsideMax + 1}`.execute(
    trx,
  )
  const isLookedUp = rows.length + tables.assignments <= reportedOperationsAsideMax
  return { ...tables, entries: isLookedUp ? rows : null, isLookedUp }
}

/** SQL: the rows of `laterEntries`. */
function entriesOf(filter: OperationFilter, entries: LaterEntry[] | null): RawBuilder<unknown> {
  if (entries === null) return laterEntries(filter, mayBeLater(filter))
  const column = (name: keyof LaterEntry) => sql`${entries.map((entry) => entry[name])}::text[]`
  return sql`select * from unnest(${column('id')}, ${column('entry_id')}, ${column('counterparty_id')}, ${column('network_id')})
    found (id, entry_id, counterparty_id, network_id)`
}

/** SQL: the operations with a later entry of the address book or with a category, and these facts. */
function asideOf(filter: OperationFilter, { laterEntries, assignments, isLookedUp }: Sides): RawBuilder<unknown> {
  const ids = [
    ...(laterEntries ? [sql`select id from entries`] : []),
    ...(assignments > 0 ? [sql`select operation_id from firsts`] : []),
  ]
  const found = sql`(${sql.join(ids, sql` union `)}) found`
  const isFound = sql`o.vault_id = ${filter.scope.vaultId} and o.id = found.id`
  return sql`
    select o.id, o.token_id, o.type, o.status, o.counterparty_id, o.counterparty_address_id, o.amount, o.usd_value,
      o.fee_amount, o.fee_usd_value, ${laterEntries ? sql`later.counterparty_id` : sql`null::text`} as later_id,
      ${assignments > 0 ? sql`case when ${isOwnOperation(filter.scope, 'o')} then firsts.own else firsts.others end` : sql`null`}
        as category
    from ${
      isLookedUp
        ? sql`${found} cross join lateral (select * from operations o where ${isFound} offset 0) o`
        : sql`${found} join operations o on ${isFound}`
    }
    ${
      laterEntries
        ? sql`left join entries later on later.id = o.id and later.network_id = o.network_id
            and o.flow_type = 'external' and o.counterparty_address_id is distinct from later.entry_id`
        : sql``
    }
    ${assignments > 0 ? sql`left join firsts on firsts.operation_id = o.id` : sql``}
    where ${mayBeReported(filter)}`
}

/** SQL: the sums of the operations that a later entry gives to another counterparty: from `current_id` to `later_id`. */
const movedOf = (filter: OperationFilter) => sql`
  select o.token_id, o.type, o.status, o.counterparty_id, s.counterparty_id as current_id, o.later_id, ${figures}
  from aside o
  left join counterparty_addresses s on s.vault_id = ${filter.scope.vaultId} and s.id = o.counterparty_address_id
  where o.later_id is not null and ${isWithCounterparties(filter)} group by 1, 2, 3, 4, 5, 6`

/** SQL: the sums of the operations with a category that the viewer may see. */
const assignedOf = (filter: OperationFilter) => sql`
  select o.token_id, o.type, o.status, o.category, ${figures}, ${feeFigures}
  from aside o where o.category is not null and ${isWithCounterparties(filter)} group by 1, 2, 3, 4`

/** SQL: sums by the recorded counterparty and the current one, with rows that move operations between sums. */
function classifiedOf(filter: OperationFilter, sides: Sides): RawBuilder<unknown> {
  const date = dateOf(filter)
  const moves = sql`
    union all select token_id, type, status, counterparty_id, current_id, -count, -amount, -usd, -rated,
      null, null, null, null, null, 0, 0, 0, 0, -count, 0 from moved
    union all select token_id, type, status, counterparty_id, later_id, count, amount, usd, rated,
      null, null, null, null, null, 0, 0, 0, 0, count, 0 from moved`
  const categorized = sql`
    union all select token_id, type, status, null, null, 0, 0, null, 0, null, null, null, null, null,
      0, 0, 0, 0, 0, -count from assigned`
  return sql`
    select cells.token_id, cells.type, cells.status, cells.counterparty_id, s.counterparty_id as current_id,
      count, amount, usd, rated, fees, "feesUsd", "largestUsd", "firstAt", "lastAt", "withoutBlockchainTime",
      "withoutPaymentPurpose", "withoutBusinessReference", "withoutFeeUsdRate", external, count as uncategorized
    from (
      select o.token_id, o.type, o.status, o.counterparty_id, o.counterparty_address_id, ${figures}, ${feeFigures},
        max(o.usd_value) as "largestUsd", min(${date}) as "firstAt", max(${date}) as "lastAt",
        count(*) filter (where ${lacksBlockchainTime}) as "withoutBlockchainTime",
        count(*) filter (where ${lacksPaymentPurpose}) as "withoutPaymentPurpose",
        count(*) filter (where ${lacksBusinessReference}) as "withoutBusinessReference",
        count(*) filter (where ${lacksFeeUsdRate}) as "withoutFeeUsdRate",
        count(*) filter (where o.flow_type = 'external') as external
      from ${reported(filter)} group by 1, 2, 3, 4, 5
    ) cells left join counterparty_addresses s on s.vault_id = ${filter.scope.vaultId} and s.id = cells.counterparty_address_id
    ${sides.laterEntries ? moves : sql``} ${sides.assignments > 0 ? categorized : sql``}`
}

/** SQL: sums by the counterparty that the report shows, with the figures that only `overall` needs. */
const partiesOf = (filter: OperationFilter) => sql`
  select token_id, type, status, ${chosenId(filter.counterpartyClassification)} as chosen_id,
    sum(count) as count, sum(amount) as amount, sum(usd) as usd, sum(rated) as rated, ${feeSums},
    max("largestUsd") as "largestUsd", min("firstAt") as "firstAt", max("lastAt") as "lastAt",
    sum("withoutBlockchainTime") as "withoutBlockchainTime",
    sum("withoutPaymentPurpose") as "withoutPaymentPurpose",
    sum("withoutBusinessReference") as "withoutBusinessReference",
    sum("withoutFeeUsdRate") as "withoutFeeUsdRate",
    sum(uncategorized) as uncategorized,
    sum(case when ${chosenId(filter.counterpartyClassification)} is null then external else 0 end) as unmatched,
    sum(case when counterparty_id is null and current_id is not null then count else 0 end) as "retroactivelyMatched",
    sum(case when counterparty_id <> current_id then count else 0 end) as "conflictingCounterparty",
    sum(case when counterparty_id is distinct from current_id then count else 0 end) as reclassified
  from classified group by 1, 2, 3, 4`

/** SQL: sums by category; operations with a category move there from the sum without. */
const categories = sql`(
  select token_id, type, status, null::text as category, count, amount, usd, rated, fees, "feesUsd" from parties
  union all select token_id, type, status, null, -count, -amount, -usd, -rated, -fees, -"feesUsd" from assigned
  union all select token_id, type, status, category, count, amount, usd, rated, fees, "feesUsd" from assigned) categories`

const sums = sql`sum(count)::float8 as count, sum(amount) as amount, sum(usd) as usd, sum(rated)::float8 as rated`

const feeSums = sql`sum(fees) as fees, sum("feesUsd") as "feesUsd"`

/** SQL: the sums of `source` by `key` where any operation is left, without the columns that only `overall` needs. */
function sumsBy(
  breakdown: keyof Groups,
  key: RawBuilder<unknown>,
  source: RawBuilder<unknown>,
  fees: RawBuilder<unknown> = sql`null, null`,
): RawBuilder<unknown> {
  return sql`
    select ${sql.lit(breakdown)}, token_id, type, status, ${key}::text, ${sums}, ${fees},
      null, null, null, ${sql.join(faultNames.map(() => sql`null`))}
    from ${source} group by token_id, type, status, ${key} having sum(count) > 0`
}

const chosenId = (classification: Classification) =>
  classification === 'current' ? sql`current_id` : sql`counterparty_id`

export function toGroup({ tokenId, type, status, count, amount, usd, rated }: GroupRow): Group {
  return { tokenId, type, status, count, amount: BigInt(amount), usd: centsOf(usd), rated }
}

function toOverall(row: OverallRow): Overall {
  const { largestUsd, firstAt, lastAt } = row
  return {
    ...toGroup(row),
    ...toFees(row),
    largestUsd: largestUsd === null ? null : centsOf(largestUsd),
    firstAt,
    lastAt,
    faults: Object.fromEntries(faultNames.map((name) => [name, row[name]])) as Faults,
  }
}

/** Returns the operations and the USD of an interval, for comparison. */
export async function compareOperations(trx: Trx, filter: OperationFilter): Promise<Compared> {
  const { rows } = await sql<Omit<Side, 'usd'> & { type: OperationType; usd: string | null }>`
    select o.type, count(*)::float8 as operations,
      count(*) filter (where ${isCounted(filter)})::float8 as counted,
      count(o.usd_value) filter (where ${isCounted(filter)})::float8 as rated,
      sum(o.usd_value) filter (where ${isCounted(filter)}) as usd
    from operations o where ${isReported(filter)}
    group by o.type`.execute(trx)
  const sideOf = (type: OperationType): Side => {
    const row = rows.find((candidate) => candidate.type === type)
    return row === undefined ? emptySide : { ...row, usd: centsOf(row.usd) }
  }
  return { incoming: sideOf('deposit'), outgoing: sideOf('transfer') }
}
