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
  isWithCounterparties,
  laterMatches,
  mayBeReported,
  type OperationFilter,
} from '../requests/operation-filter.ts'
import { avoiding, type PlanStep } from '../requests/reading.ts'
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
 * All operations of the report, summed by every property that a block is broken down by. The intermediate sums stay in
 * PostgreSQL; the result grows with days, addresses, counterparties and categories, not with operations.
 *
 * A pass sums by few properties at a time: one over all combinations of days and counterparties keeps nearly as many rows as
 * it reads. What few operations have, a later entry of the address book or a category, is no property of a pass: those
 * operations are summed apart, and move from the sum that they are in to the sum where they belong.
 *
 * @param dayStarts the first instant of every day of the interval, in order
 */
export async function sumOperations(trx: Trx, filter: OperationFilter, dayStarts: readonly Date[]): Promise<Groups> {
  const onlyAddressId = onlyAddressIdOf(filter)
  const { has, rows } = await avoiding(trx, stepsNotToSumBy, async () => {
    const tables = await findSideTables(trx, filter)
    return { has: tables, rows: (await statementOf(filter, dayStarts, tables).execute(trx)).rows }
  })
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

export const stepsNotToSumBy: readonly PlanStep[] = ['nestloop', 'sort']

/** The one address of all operations of the report, if its filters name one. */
const onlyAddressIdOf = (filter: OperationFilter) => filter.addressIdLists.find((ids) => ids.length === 1)?.[0]

/** Columns of operations that the statement reads. */
const columnsRead = sql`o.vault_id, o.id, o.token_id, o.type, o.status, o.address_id, o.owner_id, o.initiator_id, o.network_id,
  o.counterparty_id, o.counterparty_address_id, o.amount, o.usd_value, o.flow_type, o.payment_purpose, o.note, o.tags,
  o.created_at, o.confirmed_at, o.blockchain_at`

/** SQL after `from`: the operations of the report. Few are read once, as a common table. */
const reported = (filter: OperationFilter) =>
  filter.operationIds === null
    ? sql`operations o where ${isReported(filter)}`
    : sql`candidates o where ${isWithCounterparties(filter)}`

function statementOf(asked: OperationFilter, dayStarts: readonly Date[], has: SideTables): RawBuilder<OverallRow> {
  const filter = has.laterEntries ? { ...asked, later: sql`later` } : asked
  const tables = [
    ...(asked.operationIds === null
      ? []
      : [sql`candidates as materialized (select ${columnsRead} from operations o where ${mayBeReported(asked)})`]),
    ...(has.laterEntries
      ? [sql`later as materialized (${laterOf(asked)})`, sql`moved as materialized (${movedOf(filter)})`]
      : []),
    ...(has.assignments ? [sql`assigned as materialized (${assignedOf(filter)})`] : []),
    sql`classified as (${classifiedOf(filter, has)})`,
    sql`parties as materialized (${partiesOf(filter)})`,
  ]
  const breakdowns = [
    sumsBy('byDay', sql`day`, pass(filter, sql`${dayOf(filter, dayStarts)} as day`)),
    sumsBy('byCounterparty', sql`chosen_id`, sql`parties`),
    ...(onlyAddressIdOf(filter) === undefined
      ? [sumsBy('byAddress', sql`address_id`, pass(filter, sql`o.address_id`))]
      : []),
    ...(has.assignments ? [sumsBy('byCategory', sql`category`, categories)] : []),
  ]
  return sql<OverallRow>`
    with ${sql.join(tables)}
    select 'overall' as breakdown, token_id as "tokenId", type, status, null as key, ${sums},
      max("largestUsd") as "largestUsd", min("firstAt") as "firstAt", max("lastAt") as "lastAt",
      ${sql.join(faultNames.map((name) => sql`sum(${sql.ref(name)})::float8 as ${sql.ref(name)}`))}
    from parties group by token_id, type, status
    union all ${sql.join(breakdowns, sql` union all `)}`
}

/** SQL: the number of the day of the operation `o`. */
function dayOf(filter: OperationFilter, dayStarts: readonly Date[]): RawBuilder<unknown> {
  // As seconds, because PostgreSQL looks up doubles much faster than timestamps; milliseconds fit exactly enough.
  const starts = dayStarts.map((start) => start.getTime() / 1000)
  return sql`width_bucket(date_part('epoch', ${dateOf(filter)}), ${starts}::float8[]) - 1`
}

const figures = sql`count(*) as count, sum(o.amount) as amount, sum(o.usd_value) as usd, count(o.usd_value) as rated`

/** SQL: the operations of the report, summed by one property. */
const pass = (filter: OperationFilter, key: RawBuilder<unknown>) => sql`(
  select o.token_id, o.type, o.status, ${key}, ${figures} from ${reported(filter)} group by 1, 2, 3, 4) pass`

/** SQL: what `laterMatches` finds, with what is summed. `recorded_id` is the counterparty at the creation. */
function laterOf(filter: OperationFilter): RawBuilder<unknown> {
  const columns = sql`, o.token_id, o.type, o.status, o.counterparty_id as recorded_id, o.counterparty_address_id, o.amount, o.usd_value`
  const entries = mayBeLater(filter)
  return filter.operationIds === null
    ? laterMatches(filter, { entries, operations: mayBeReported(filter), columns })
    : laterMatches(filter, { entries, source: sql`candidates`, columns })
}

/** SQL: the sums of the operations that a later entry gives to another counterparty: from `current_id` to `later_id`. */
const movedOf = (filter: OperationFilter) => sql`
  select o.token_id, o.type, o.status, o.counterparty_id, s.counterparty_id as current_id, o.later_id, ${figures}
  from (select l.id, l.counterparty_id as later_id, l.recorded_id as counterparty_id, l.counterparty_address_id,
    l.token_id, l.type, l.status, l.amount, l.usd_value from later l) o
  left join counterparty_addresses s on s.vault_id = ${filter.scope.vaultId} and s.id = o.counterparty_address_id
  where ${isWithCounterparties(filter)} group by 1, 2, 3, 4, 5, 6`

/** SQL: the sums of the operations with a category that the viewer may see. */
function assignedOf(filter: OperationFilter): RawBuilder<unknown> {
  const category = sql`case when ${isOwnOperation(filter.scope, 'o')} then firsts.own else firsts.others end`
  return sql`
    select o.token_id, o.type, o.status, ${category} as category, ${figures}
    from (select * from ${reported(filter)}) o join (${firstCategories(filter)}) firsts on firsts.operation_id = o.id
    where ${category} is not null group by 1, 2, 3, 4`
}

/** SQL: sums by the recorded counterparty and the current one, with rows that move operations between sums. */
function classifiedOf(filter: OperationFilter, has: SideTables): RawBuilder<unknown> {
  const date = dateOf(filter)
  const moves = sql`
    union all select token_id, type, status, counterparty_id, current_id, -count, -amount, -usd, -rated,
      null, null, null, 0, 0, 0, -count, 0 from moved
    union all select token_id, type, status, counterparty_id, later_id, count, amount, usd, rated,
      null, null, null, 0, 0, 0, count, 0 from moved`
  const categorized = sql`
    union all select token_id, type, status, null, null, 0, 0, null, 0, null, null, null, 0, 0, 0, 0, -count from assigned`
  return sql`
    select cells.token_id, cells.type, cells.status, cells.counterparty_id, s.counterparty_id as current_id,
      count, amount, usd, rated, "largestUsd", "firstAt", "lastAt",
      "withoutBlockchainTime", "withoutPaymentPurpose", "withoutBusinessReference", external, count as uncategorized
    from (
      select o.token_id, o.type, o.status, o.counterparty_id, o.counterparty_address_id, ${figures},
        max(o.usd_value) as "largestUsd", min(${date}) as "firstAt", max(${date}) as "lastAt",
        count(*) filter (where ${lacksBlockchainTime}) as "withoutBlockchainTime",
        count(*) filter (where ${lacksPaymentPurpose}) as "withoutPaymentPurpose",
        count(*) filter (where ${lacksBusinessReference}) as "withoutBusinessReference",
        count(*) filter (where o.flow_type = 'external') as external
      from ${reported(filter)} group by 1, 2, 3, 4, 5
    ) cells left join counterparty_addresses s on s.vault_id = ${filter.scope.vaultId} and s.id = cells.counterparty_address_id
    ${has.laterEntries ? moves : sql``} ${has.assignments ? categorized : sql``}`
}

/** SQL: sums by the counterparty that the report shows, with the figures that only the whole needs. */
const partiesOf = (filter: OperationFilter) => sql`
  select token_id, type, status, ${chosenId(filter.counterpartyClassification)} as chosen_id,
    sum(count) as count, sum(amount) as amount, sum(usd) as usd, sum(rated) as rated,
    max("largestUsd") as "largestUsd", min("firstAt") as "firstAt", max("lastAt") as "lastAt",
    sum("withoutBlockchainTime") as "withoutBlockchainTime",
    sum("withoutPaymentPurpose") as "withoutPaymentPurpose",
    sum("withoutBusinessReference") as "withoutBusinessReference",
    sum(uncategorized) as uncategorized,
    sum(case when ${chosenId(filter.counterpartyClassification)} is null then external else 0 end) as unmatched,
    sum(case when counterparty_id is null and current_id is not null then count else 0 end) as "retroactivelyMatched",
    sum(case when counterparty_id <> current_id then count else 0 end) as "conflictingCounterparty",
    sum(case when counterparty_id is distinct from current_id then count else 0 end) as reclassified
  from classified group by 1, 2, 3, 4`

/** SQL: sums by category; what has one moves there from the sum without. */
const categories = sql`(
  select token_id, type, status, null::text as category, count, amount, usd, rated from parties
  union all select token_id, type, status, null, -count, -amount, -usd, -rated from assigned
  union all select token_id, type, status, category, count, amount, usd, rated from assigned) categories`

const sums = sql`sum(count)::float8 as count, sum(amount) as amount, sum(usd) as usd, sum(rated)::float8 as rated`

/** SQL: the sums of `source` by `key` where any operation is left, without the columns that only the whole needs. */
function sumsBy(breakdown: keyof Groups, key: RawBuilder<unknown>, source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select ${sql.lit(breakdown)}, token_id, type, status, ${key}::text, ${sums},
      null, null, null, ${sql.join(faultNames.map(() => sql`null`))}
    from ${source} group by token_id, type, status, ${key} having sum(count) > 0`
}

const chosenId = (classification: Classification) =>
  classification === 'current' ? sql`current_id` : sql`counterparty_id`

type SideTables = { laterEntries: boolean; assignments: boolean }

/** SQL condition: the entry `s` of the address book may be newer than an operation of the report. */
const mayBeLater = ({ dateBasis, interval }: OperationFilter) =>
  dateBasis === 'createdAt' ? sql`s.created_at >= ${interval.from}` : sql`true`

/** Looks for newer entries of the address book and for assigned categories: most vaults have neither. */
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
    const row = rows.find((candidate) => candidate.type === type)
    return row === undefined ? emptySide : { ...row, usd: centsOf(row.usd) }
  }
  return { incoming: sideOf('deposit'), outgoing: sideOf('transfer') }
}
