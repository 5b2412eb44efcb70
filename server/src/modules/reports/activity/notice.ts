import { sql } from 'kysely'
import { isOperationInScope } from '../../../access/address-scope.ts'
import type { Trx } from '../../../db/client.ts'
import { compareText, flowOf, grossUsd, type Keyed } from '../blocks/flows.ts'
import {
  type AwakenedAddress,
  isLargeUsd,
  type LargeOperation,
  type NewCounterparty,
  type RatelessToken,
  thresholds,
} from '../blocks/observations.ts'
import {
  countedStatusOf,
  isCounted,
  isReported,
  laterMatches,
  type OperationFilter,
} from '../requests/operation-filter.ts'
import { avoiding } from '../requests/reading.ts'
import { type ReportedOperation, ratelessTokensOf } from './few-operations.ts'
import type { Groups } from './groups.ts'
import { lacksUsdRate } from './statistics.ts'

/**
 * Reads what observations name and sums do not show: single operations, counterparties, addresses and tokens, all within the scope
 * of the report.
 */
export async function noticeOperations(
  trx: Trx,
  filter: OperationFilter,
  groups: Groups,
  few: readonly ReportedOperation[] | null,
) {
  return {
    largeOperations: await listLargeOperations(trx, filter, groups),
    newCounterparties: await listNewCounterparties(trx, filter, groups),
    awakenedAddresses: await listAwakened(trx, filter, [...new Set(groups.byAddress.map(({ key }) => key))]),
    ratelessTokens:
      few !== null
        ? ratelessTokensOf(few)
        : groups.overall.some(({ count, rated }) => rated < count)
          ? await listRatelessTokens(trx, filter)
          : [],
  }
}

async function listLargeOperations(trx: Trx, filter: OperationFilter, { overall }: Groups): Promise<LargeOperation[]> {
  const isCountedStatus = countedStatusOf(filter)
  const flow = flowOf(overall, { isCounted: isCountedStatus })
  const total = grossUsd(flow)
  // The largest amount is known already: if it is not large, no operation needs to be read.
  const isAnyLarge = overall.some(
    ({ status, largestUsd }) =>
      largestUsd !== null && isCountedStatus(status) && isLargeUsd(largestUsd, total, flow.ratedCount),
  )
  if (!isAnyLarge) return []
  const { rows } = await sql<LargeOperation>`
    select o.id, o.type, o.address_id as "addressId", o.token_id as "tokenId", o.tx_hash as "txHash",
      o.created_at as "createdAt", o.usd_value as "usdValue"
    from operations o where ${isReported(filter)} and ${isCounted(filter)}
      and o.usd_value >= ${thresholds.largeUsdMin.toString()}::numeric
      and o.usd_value * 100 * ${flow.ratedCount - 1}::numeric
        >= ${thresholds.largeFactor.toString()}::numeric * (${total.toString()}::numeric - o.usd_value * 100)
    order by o.usd_value desc, o.id limit ${thresholds.largeOperationsMax}`.execute(trx)
  return rows
}

/**
 * Returns the counterparties without operations of the scope before the interval: by the counterparty recorded with an operation,
 * and with the current classification also by the present address book. History lists operations by the recorded counterparty, so
 * others are left out, and the counts are those of history.
 */
async function listNewCounterparties(
  trx: Trx,
  filter: OperationFilter,
  { byCounterparty, byRecorded }: Groups,
): Promise<NewCounterparty[]> {
  const reported = countsOf(byCounterparty)
  const counts = filter.counterpartyClassification === 'historical' ? reported : countsOf(byRecorded)
  const ids = [...reported.keys()].filter((id) => counts.has(id))
  if (ids.length === 0) return []
  const { scope, interval } = filter
  const { rows } = await sql<{ id: string; name: string }>`
    select c.id, c.name from counterparties c
    where c.vault_id = ${scope.vaultId} and c.id = any(${ids}::text[]) and not exists (
      select from operations o where o.vault_id = ${scope.vaultId} and o.counterparty_id = c.id
        and o.created_at < ${interval.from} and ${isOperationInScope(scope, 'o')})`.execute(trx)
  const known = await listMatchedBefore(
    trx,
    filter,
    rows.map(({ id }) => id),
  )
  return rows
    .filter(({ id }) => !known.has(id))
    .map(({ id, name }) => ({ id, name, count: counts.get(id)! }))
    .sort((a, b) => b.count - a.count || compareText(a.id, b.id))
    .slice(0, thresholds.newCounterpartiesMax)
}

/** Returns those of the counterparties that the present address book names for an operation of the scope before the interval. */
async function listMatchedBefore(trx: Trx, filter: OperationFilter, ids: string[]): Promise<Set<string>> {
  if (filter.counterpartyClassification === 'historical' || ids.length === 0) return new Set()
  const { scope, interval } = filter
  const matches = laterMatches(
    { scope, operationIds: null },
    {
      entries: sql`s.counterparty_id = any(${ids}::text[])`,
      operations: sql`o.created_at < ${interval.from} and ${isOperationInScope(scope, 'o')}`,
    },
  )
  const { rows } = await avoiding(trx, ['nestloop'], () =>
    sql<{ id: string }>`select distinct m.counterparty_id as id from (${matches}) m`.execute(trx),
  )
  return new Set(rows.map(({ id }) => id))
}

function countsOf(groups: readonly Keyed<string | null>[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { key, count } of groups) if (key !== null) counts.set(key, (counts.get(key) ?? 0) + count)
  return counts
}

/** Returns the addresses of the report that had an operation in the interval after a long time without any. */
async function listAwakened(trx: Trx, filter: OperationFilter, ids: string[]): Promise<AwakenedAddress[]> {
  if (ids.length === 0) return []
  const { scope, interval } = filter
  const onAddress = sql`o.vault_id = ${scope.vaultId} and o.address_id = w.id and ${isOperationInScope(scope, 'o')}`
  const { rows } = await sql<AwakenedAddress>`
    select w.id, earlier.created_at as "lastBefore", first.created_at as "firstWithin",
      (select count(*)::float8 from operations o where ${isReported(filter)} and o.address_id = w.id) as count
    from unnest(${ids}::text[]) w(id)
    cross join lateral (select o.created_at from operations o where ${onAddress} and o.created_at < ${interval.from}
      order by o.created_at desc, o.id desc limit 1) earlier
    cross join lateral (select o.created_at from operations o where ${onAddress} and o.created_at >= ${interval.from}
      and o.created_at < ${interval.to} order by o.created_at, o.id limit 1) first
    where first.created_at - earlier.created_at >= ${thresholds.dormantDaysMin} * interval '1 day'
    order by first.created_at - earlier.created_at desc, w.id limit ${thresholds.dormantAddressesMax}`.execute(trx)
  return rows
}

/**
 * Returns the tokens that have operations without a USD value, with the number and the period of these operations, and the
 * number of all operations in the period.
 */
async function listRatelessTokens(trx: Trx, filter: OperationFilter): Promise<RatelessToken[]> {
  const reported = isReported(filter)
  const { rows } = await sql<RatelessToken>`
    with rateless as (
      select o.token_id, count(*)::float8 as missing, min(o.created_at) as first_at, max(o.created_at) as last_at
      from operations o where ${reported} and ${lacksUsdRate} group by o.token_id
    )
    select r.token_id as "tokenId", r.missing, r.first_at as "firstAt", r.last_at as "lastAt",
      (select count(*)::float8 from operations o where ${reported} and o.token_id = r.token_id
        and o.created_at between r.first_at and r.last_at) as operations
    from rateless r order by r.missing desc, r.token_id`.execute(trx)
  return rows
}
