import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import type { OperationStatus, OperationType } from '../../../lib/operations.ts'
import { isOwnOperation } from '../../operations/categories/rights.ts'
import {
  compareText,
  type Faults,
  type Fees,
  faultNames,
  type Group,
  type OrderStatistics,
  type Overall,
} from '../blocks/flows.ts'
import type { RatelessToken } from '../blocks/observations.ts'
import { centsOf } from '../requests/exact.ts'
import {
  countedStatusOf,
  dateOf,
  isWithCounterparties,
  laterMatches,
  mayBeReported,
  type OperationFilter,
} from '../requests/operation-filter.ts'
import { avoiding } from '../requests/reading.ts'
import { type FeesRow, type Groups, inOrder, toFees } from './groups.ts'
import { findSideTables, firstCategories, mayBeLater, stepsNotToSumBy } from './side-tables.ts'
import { lacksBlockchainTime, lacksBusinessReference, lacksFeeUsdRate, lacksPaymentPurpose } from './statistics.ts'

/**
 * Reports over few operations. One statement reads each operation with its classification, and this file sums the rows.
 * PostgreSQL needs longer to plan the sums than to read the rows. `sumManyOperations` sums many operations.
 */

export type ReportedOperation = {
  tokenId: string
  type: OperationType
  status: OperationStatus
  addressId: string
  /** The counterparty at the creation, and the counterparty of the current address book. */
  recordedId: string | null
  currentId: string | null
  /** The key of the first category that the viewer may see; null without such a category. */
  category: string | null
  amount: bigint
  /** The value in cents; null without a USD rate. */
  usd: bigint | null
  /** The booked fee in raw units of the coin of the network, and its value in cents. */
  fees: bigint
  feesUsd: bigint
  /** The date that the report uses, and the creation, in milliseconds since 1970. */
  at: number
  createdAt: number
  isExternal: boolean
  withoutBlockchainTime: boolean
  withoutPaymentPurpose: boolean
  withoutBusinessReference: boolean
  withoutFeeUsdRate: boolean
}

const millisecondsOf = (time: RawBuilder<unknown>) => sql`round(extract(epoch from ${time}) * 1000)::float8`

/** Returns every operation of the report. Returns null unless `nameFew` has found that they are few. */
export async function readFewOperations(trx: Trx, filter: OperationFilter): Promise<ReportedOperation[] | null> {
  if (filter.operationIds === null) return null
  return avoiding(trx, stepsNotToSumBy, async () => {
    const has = await findSideTables(trx, filter, 1)
    const matched = { ...filter, later: sql`later` }
    const later = has.laterEntries
      ? laterMatches(filter, { entries: mayBeLater(filter), source: sql`candidates` })
      : sql`select null::text as id, null::text as counterparty_id where false`
    const { rows } = await sql<
      Omit<ReportedOperation, 'amount' | 'usd' | keyof Fees> & FeesRow & { amount: string; usd: string | null }
    >`
      with candidates as materialized (select * from operations o where ${mayBeReported(filter)}),
        later as materialized (${later})
      select o.token_id as "tokenId", o.type, o.status, o.address_id as "addressId", o.counterparty_id as "recordedId",
        coalesce(later.counterparty_id, s.counterparty_id) as "currentId",
        ${has.assignments > 0 ? sql`case when ${isOwnOperation(filter.scope, 'o')} then firsts.own else firsts.others end` : sql`null`}
          as category,
        o.amount, o.usd_value as usd, o.fee_amount as fees, o.fee_usd_value as "feesUsd", ${millisecondsOf(dateOf(filter))} as at,
        ${millisecondsOf(sql`o.created_at`)} as "createdAt",
        coalesce(o.flow_type = 'external', false) as "isExternal", ${lacksBlockchainTime} as "withoutBlockchainTime",
        ${lacksPaymentPurpose} as "withoutPaymentPurpose", ${lacksBusinessReference} as "withoutBusinessReference",
        ${lacksFeeUsdRate} as "withoutFeeUsdRate"
      from candidates o
      left join counterparty_addresses s on s.vault_id = o.vault_id and s.id = o.counterparty_address_id
      left join later on later.id = o.id
      ${has.assignments > 0 ? sql`left join (${firstCategories(filter)}) firsts on firsts.operation_id = o.id` : sql``}
      where ${isWithCounterparties(matched)}`.execute(trx)
    return rows.map((row) => ({
      ...row,
      ...toFees(row),
      amount: BigInt(row.amount),
      usd: row.usd === null ? null : centsOf(row.usd),
    }))
  })
}

/** Returns the same sums as `sumManyOperations`. */
export function sumFewOperations(
  operations: readonly ReportedOperation[],
  { counterpartyClassification }: OperationFilter,
  dayStarts: readonly Date[],
): Groups {
  const chosenOf = ({ currentId, recordedId }: ReportedOperation) =>
    counterpartyClassification === 'current' ? currentId : recordedId
  const starts = dayStarts.map((start) => start.getTime())
  return {
    overall: sumWhole(operations, chosenOf),
    byDay: sumBy(operations, ({ at }) => dayOf(at, starts), plain),
    byAddress: sumBy(operations, ({ addressId }) => addressId, plain),
    byCounterparty: sumBy(operations, chosenOf, plain),
    byRecorded: sumBy(operations, ({ recordedId }) => recordedId, plain),
    byCategory: sumBy(operations, ({ category }) => category, withFees),
  }
}

/** Sums of operations by their token, type and status. */
type Sums<Sum> = Map<string, Sum>

const nameOf = ({ tokenId, type, status }: ReportedOperation) => `${tokenId} ${type} ${status}`

/** The start of a sum, and the addition of an operation to it. */
type Summing<Sum> = { start(operation: ReportedOperation): Sum; add(sum: Sum, operation: ReportedOperation): void }

function sumBy<Key extends string | number | null, Sum extends Group>(
  operations: readonly ReportedOperation[],
  keyOf: (operation: ReportedOperation) => Key,
  { start, add }: Summing<Sum>,
): (Sum & { key: Key })[] {
  const keys = new Map<Key, Sums<Sum & { key: Key }>>()
  for (const operation of operations) {
    const key = keyOf(operation)
    const sums = keys.get(key) ?? new Map<string, Sum & { key: Key }>()
    keys.set(key, sums)
    const name = nameOf(operation)
    const sum = sums.get(name) ?? { ...start(operation), key }
    sums.set(name, sum)
    add(sum, operation)
  }
  return inOrder([...keys.values()].flatMap((sums) => [...sums.values()]))
}

const plain: Summing<Group> = {
  start: ({ tokenId, type, status }) => ({ tokenId, type, status, count: 0, amount: 0n, usd: 0n, rated: 0 }),
  add(sum, { amount, usd }) {
    sum.count += 1
    sum.amount += amount
    if (usd === null) return
    sum.usd += usd
    sum.rated += 1
  },
}

const withFees: Summing<Group & Fees> = {
  start: (operation) => ({ ...plain.start(operation), fees: 0n, feesUsd: 0n }),
  add(sum, operation) {
    plain.add(sum, operation)
    sum.fees += operation.fees
    sum.feesUsd += operation.feesUsd
  },
}

function sumWhole(
  operations: readonly ReportedOperation[],
  chosenOf: (operation: ReportedOperation) => string | null,
): Overall[] {
  const sums: Sums<Overall> = new Map()
  for (const operation of operations) {
    const { usd } = operation
    const [name, at] = [nameOf(operation), new Date(operation.at)]
    const sum: Overall = sums.get(name) ?? {
      ...withFees.start(operation),
      ...{ largestUsd: null, firstAt: at, lastAt: at, faults: { ...noFaults } },
    }
    sums.set(name, sum)
    withFees.add(sum, operation)
    if (usd !== null && (sum.largestUsd === null || usd > sum.largestUsd)) sum.largestUsd = usd
    if (at < sum.firstAt) sum.firstAt = at
    if (at > sum.lastAt) sum.lastAt = at
    for (const fault of faultsOf(operation, chosenOf(operation))) sum.faults[fault] += 1
  }
  return inOrder([...sums.values()])
}

const noFaults = Object.fromEntries(faultNames.map((name) => [name, 0])) as Faults

/** @param chosenId the counterparty that the report shows */
function faultsOf(operation: ReportedOperation, chosenId: string | null): (keyof Faults)[] {
  const { recordedId, currentId } = operation
  const has: Record<keyof Faults, boolean> = {
    withoutBlockchainTime: operation.withoutBlockchainTime,
    withoutPaymentPurpose: operation.withoutPaymentPurpose,
    withoutBusinessReference: operation.withoutBusinessReference,
    withoutFeeUsdRate: operation.withoutFeeUsdRate,
    uncategorized: operation.category === null,
    unmatched: operation.isExternal && chosenId === null,
    retroactivelyMatched: recordedId === null && currentId !== null,
    conflictingCounterparty: recordedId !== null && currentId !== null && recordedId !== currentId,
    reclassified: recordedId !== currentId,
  }
  return faultNames.filter((name) => has[name])
}

/** Returns the number of the day of an instant, like `width_bucket` of PostgreSQL. */
function dayOf(at: number, dayStarts: readonly number[]): number {
  let [low, high] = [0, dayStarts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (dayStarts[middle]! <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Returns the same as `listOrderStatistics`. */
export function orderStatisticsOf(
  operations: readonly ReportedOperation[],
  filter: OperationFilter,
): Map<string, OrderStatistics> {
  const isCounted = countedStatusOf(filter)
  const counted = operations.filter(({ status }) => isCounted(status))
  return new Map(byToken(counted).map(([tokenId, list]) => [tokenId, middlesOf(list.map(({ amount }) => amount))]))
}

function middlesOf(amounts: bigint[]): OrderStatistics {
  const sorted = amounts.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const count = sorted.length
  return {
    smallest: sorted[0]!,
    lower: sorted[Math.ceil(count / 2) - 1]!,
    upper: sorted[Math.floor(count / 2)]!,
    largest: sorted[count - 1]!,
  }
}

/** Returns the same as `listRatelessTokens`. */
export function ratelessTokensOf(operations: readonly ReportedOperation[]): RatelessToken[] {
  return byToken(operations)
    .flatMap(([tokenId, ofToken]) => {
      const times = ofToken.filter(({ usd }) => usd === null).map(({ createdAt }) => createdAt)
      if (times.length === 0) return []
      const [first, last] = [Math.min(...times), Math.max(...times)]
      const between = ofToken.filter(({ createdAt }) => createdAt >= first && createdAt <= last)
      return [
        {
          tokenId,
          missing: times.length,
          operations: between.length,
          firstAt: new Date(first),
          lastAt: new Date(last),
        },
      ]
    })
    .sort((a, b) => b.missing - a.missing || compareText(a.tokenId, b.tokenId))
}

function byToken(operations: readonly ReportedOperation[]): [tokenId: string, ofToken: ReportedOperation[]][] {
  const tokens = new Map<string, ReportedOperation[]>()
  for (const operation of operations) {
    const ofToken = tokens.get(operation.tokenId)
    if (ofToken === undefined) tokens.set(operation.tokenId, [operation])
    else ofToken.push(operation)
  }
  return [...tokens]
}
