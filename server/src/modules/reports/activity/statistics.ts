import { type RawBuilder, sql } from 'kysely'
import { isOperationInScope } from '../../../access/address-scope.ts'
import type { Trx } from '../../../db/client.ts'
import { refundTypes, voidStatuses } from '../../operations/relations/check-relation.ts'
import { refundedOf } from '../../operations/relations/queries.ts'
import type { OtherFaults } from '../blocks/data-quality.ts'
import type { OrderStatistics, Overall } from '../blocks/flows.ts'
import {
  isAmong,
  isByCounterparty,
  isCounted,
  isReported,
  isUndated,
  type OperationFilter,
} from '../requests/operation-filter.ts'
import { avoiding, countEach, countRows, type PlanStep } from '../requests/reading.ts'

/** SQL conditions on the operation `o` that data quality counts and the list of exceptions names. */
export const lacksUsdRate = sql<boolean>`o.usd_value is null`
export const lacksFeeUsdRate = sql<boolean>`(o.fee_booked_at is not null and o.fee_usd_value is null)`
export const lacksBlockchainTime = sql<boolean>`(o.status = 'confirmed' and o.blockchain_at is null)`
export const lacksPaymentPurpose = sql<boolean>`coalesce(o.payment_purpose, '') = ''`
export const lacksBusinessReference = sql<boolean>`(coalesce(o.note, '') = '' and o.tags = '{}')`

/** Counts the faults that are counted separately from sums. `overall` are the sums of the operations of the report. */
export async function countOtherFaults(
  trx: Trx,
  filter: OperationFilter,
  overall: readonly Overall[],
): Promise<Omit<OtherFaults, 'ledgerReconciliationDifferences'>> {
  const froms = {
    operationsWithoutSelectedDate: sql`from operations o where ${filter.dateBasis === 'createdAt' ? sql`false` : isUndated(filter)}`,
    invalidOperationRelations: sql`from (${invalidRelations(filter)}) invalid`,
  }
  return avoiding(trx, ['nestloop'], async () =>
    operationsOf(overall) < mergedOperationsMin
      ? await countEach(trx, { ...froms, missingLedgerEntries: missingEntries(filter) })
      : { ...(await countEach(trx, froms)), missingLedgerEntries: await countMissingEntries(trx, filter, overall) },
  )
}

const operationsOf = (overall: readonly Overall[]) => overall.reduce((sum, { count }) => sum + count, 0)

/**
 * SQL condition: the ledger lacks the entry that the status of the operation `o` requires: the deposit, the reservation of an
 * open transfer, the settlement of a confirmed transfer, the release of any other. `strongroom ledger verify` checks all
 * entries.
 */
export const lacksEntry = (filter: OperationFilter) => sql<boolean>`not exists (select from ledger_entries e
  where e.vault_id = o.vault_id and ${isAmong(filter, 'e.operation_id')} and e.operation_id = o.id
    and e.kind = case when o.type = 'deposit' then 'deposit' when o.status = 'confirmed' then 'settle'
    when o.status in ('awaiting_approval', 'pending') then 'reserve' else 'release' end)`

/** The number of operations from which merging two indexes takes half the time of hashing one of them. */
const mergedOperationsMin = 100_000

/**
 * The plan steps to avoid when the entries of so many operations are read. PostgreSQL would hash in several processes, which
 * takes more than 100 MB for a million operations, or look up each entry where its statistics date from a time with few
 * operations. Only hashing finds the counterparties of operations.
 */
export const avoidedForEntries = (operations: number, filter: OperationFilter): readonly PlanStep[] =>
  operations >= mergedOperationsMin && !isByCounterparty(filter) ? ['hashjoin', 'nestloop'] : ['nestloop']

/** @param overall the sums of the operations of the report */
export async function countMissingEntries(
  trx: Trx,
  filter: OperationFilter,
  overall: readonly Overall[],
): Promise<number> {
  return avoiding(trx, avoidedForEntries(operationsOf(overall), filter), () => countRows(trx, missingEntries(filter)))
}

const missingEntries = (filter: OperationFilter) =>
  sql`from operations o where ${isReported(filter)} and ${lacksEntry(filter)}`

/**
 * SQL: inconsistent relations whose source is in the report and both ends of which are in its scope. People create relations by
 * hand, so there are few: both ends of each are looked up, whatever the planner expects.
 */
export function invalidRelations(filter: OperationFilter): RawBuilder<unknown> {
  const { scope } = filter
  return sql`
    select r.id, r.source_operation_id
    from operation_relations r
    cross join lateral (
      select * from operations s where s.vault_id = r.vault_id and s.id = r.source_operation_id offset 0) o
    cross join lateral (
      select * from operations s where s.vault_id = r.vault_id and s.id = r.target_operation_id offset 0) target
    where r.vault_id = ${scope.vaultId} and ${isReported(filter)} and ${isOperationInScope(scope, 'target')} and (
      (r.related_amount is not null and (r.token_id <> o.token_id or r.token_id <> target.token_id))
      or (r.relation_type = any(${refundTypes}::text[]) and (
        o.status = any(${voidStatuses}::text[]) or target.status = any(${voidStatuses}::text[])
        or target.amount < ${refundedOf(sql`r.vault_id`, sql`r.target_operation_id`, isOperationInScope(scope, 'paid'))})))`
}

/**
 * The ranks, as shares of the number of values, of the lower and the upper middle: of n values percentile_disc takes the
 * one at rank ceil(share × n), and the second share lifts only an even n/2 to n/2 + 1, for any n below 500 million.
 */
export const middles = sql`array[0.5, 0.500000001]::float8[]`

/** The maximum number of tokens that are distinguished while operations are read. Each token costs a comparison for every operation. */
const comparedTokensMax = 16

/**
 * Returns the minimum, the two middle values and the maximum of the amounts of every token, over the operations that count,
 * with one sort.
 *
 * @param tokenIds the distinct tokens of the operations that count
 */
export async function listOrderStatistics(
  trx: Trx,
  filter: OperationFilter,
  tokenIds: readonly string[],
): Promise<Map<string, OrderStatistics>> {
  const found = sql`percentile_disc(array_cat(${middles}, array[0, 1]::float8[])) within group (order by o.amount)`
  const counted = sql`from operations o where ${isReported(filter)} and ${isCounted(filter)}`
  if (tokenIds.length === 0) return new Map()
  if (tokenIds.length > comparedTokensMax) {
    const { rows } = await sql<{ token_id: string; found: string[] }>`
      select o.token_id, (${found})::text[] as found ${counted} group by o.token_id`.execute(trx)
    return new Map(rows.map((row) => [row.token_id, toOrderStatistics(row.found)]))
  }
  // Grouping would sort whole operations by token before it sorts amounts, which takes longer than the comparisons.
  const ofTokens = tokenIds.map((id) => sql`${found} filter (where o.token_id = ${id})`)
  const { rows } = await sql<{ found: string[][] }>`
    select array[${sql.join(ofTokens)}]::text[] as found ${counted}`.execute(trx)
  return new Map(tokenIds.map((id, index) => [id, toOrderStatistics(rows[0]!.found[index]!)]))
}

function toOrderStatistics(found: string[]): OrderStatistics {
  const [lower, upper, smallest, largest] = found.map(BigInt)
  return { lower: lower!, upper: upper!, smallest: smallest!, largest: largest! }
}
