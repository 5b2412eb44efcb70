import type { AddressScope } from '../../../access/address-scope.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { AppError, type FieldFault, faulty } from '../../../lib/errors.ts'
import { faultsListedMax } from '../../../lib/limits.ts'
import { formatDecimal, usdValueOf } from '../../../lib/money.ts'
import type { ReasonOf } from '../../../lib/reasons.ts'
import type { Initiator } from '../../rules/decisions/candidates.ts'
import type { BatchQuestion } from '../../rules/decisions/decide-batch.ts'
import { type ActiveHold, detailsOf, reasonOf } from '../../rules/holds/active.ts'
import { insufficientGasMessage } from '../orders/ask-services.ts'
import {
  agreedAvailable,
  factsOf,
  findArchivedRecipient,
  findSources,
  type Order,
  planOrder,
  type SourceRow,
} from '../orders/load-order.ts'
import type { OrderBody } from '../orders/schema.ts'
import type { PayoutBody, RowBody } from './schema.ts'

/** A row that was checked. */
export type LoadedRow = { body: RowBody; order: Order }

/** `riskScores` are what the screening answered about the rows, if policies ask for it. */
type Loading = { scope: AddressScope; now: Date; locksHolds?: boolean; riskScores?: readonly (string | undefined)[] }

/**
 * Reads everything that the rows refer to, and checks all of them. Permission comes first: a row that pays from an address
 * that the caller does not see or may not transfer from refuses the payout before anything is said about the others.
 *
 * @throws 404 for addresses that the caller does not see, 403 for those they may not transfer from, 400 for faulty rows; each
 *   names the rows
 */
export async function loadRows(
  db: Db | Trx,
  { rows, paymentPurpose }: PayoutBody,
  { scope, now, locksHolds = false, riskScores = [] }: Loading,
): Promise<LoadedRow[]> {
  const sources = await findSources(db, scope, rows.map(toOrderBody), { now, locksHolds })
  const hidden = sources.flatMap((source, i) => (source === null ? [atRow(i, 'fromAddressId', 'is not found')] : []))
  if (hidden.length > 0) throw refusalOf('not_found', 'Address not found', hidden)
  const denied = sources.flatMap((source, i) =>
    source !== null && !source.can_transfer
      ? [atRow(i, 'fromAddressId', 'is an address that you may not transfer from')]
      : [],
  )
  if (denied.length > 0)
    throw refusalOf(
      'not_permitted',
      'Only the owner of an address and members with a transfer grant on it may transfer from it',
      denied,
    )
  const faults: FieldFault[] = []
  const rowOfExternalId = new Map<string, number>()
  const loaded: LoadedRow[] = []
  for (const [i, body] of rows.entries()) {
    const earlier = rowOfExternalId.get(body.externalId)
    if (earlier !== undefined) faults.push(atRow(i, 'externalId', `is that of row ${earlier + 1} too`))
    else rowOfExternalId.set(body.externalId, i)
    const planned = planRow(sources[i]!, body)
    if ('faults' in planned) faults.push(...planned.faults.map(({ field, message }) => atRow(i, field, message)))
    else {
      const riskScore = riskScores[i]
      const order = { ...planned.order, ...(riskScore === undefined ? {} : { riskScore }) }
      loaded.push({ body: { ...body, ...purposeOf(body, paymentPurpose) }, order })
    }
  }
  if (faults.length > 0) throw faulty(faults.slice(0, faultsListedMax))
  return loaded
}

function purposeOf({ paymentPurpose }: RowBody, common: string | undefined): { paymentPurpose?: string } {
  const purpose = paymentPurpose ?? common
  return purpose === undefined ? {} : { paymentPurpose: purpose }
}

export function toOrderBody({ externalId: _, paymentPurpose, note, ...order }: RowBody): OrderBody {
  return { ...order, metadata: { paymentPurpose: paymentPurpose ?? null, note: note ?? null } }
}

function planRow(source: SourceRow, body: RowBody): { order: Order } | { faults: FieldFault[] } {
  try {
    return { order: planOrder(source, toOrderBody(body)) }
  } catch (error) {
    if (error instanceof AppError && Array.isArray(error.details)) return { faults: error.details }
    throw error
  }
}

/** `line` counts from 1, as people count rows. */
export function atRow(i: number, field: string, message: string): FieldFault {
  return { line: i + 1, field: `rows.${i}.${field}`, message }
}

/** A refusal of the whole payout that names the rows it is for. */
export function refusalOf(
  reason: 'not_found' | ReasonOf<403> | ReasonOf<409>,
  message: string,
  faults: FieldFault[],
): AppError {
  return new AppError(reason, message, { details: faults.slice(0, faultsListedMax) })
}

export type Objection = { reason: ReasonOf<409>; message: string; faults: FieldFault[] }

type Obstacles = {
  /** For each row. */
  holds: (ActiveHold | null)[]
  availableOf: (source: Order['source']) => bigint
  /** The rows whose network fees cannot be paid. */
  unpayable: FieldFault[]
}

/** What the payout would be refused for whatever the policies decide, first what an order is refused for first. */
export function findObjections(
  rows: LoadedRow[],
  { holds, availableOf, unpayable }: Obstacles,
): { beforePolicies: Objection[]; afterPolicies: Objection[] } {
  const archived = rows.flatMap(({ order }, i) => {
    const owner = findArchivedRecipient(order)
    return owner === null ? [] : [atRow(i, 'toAddress', `belongs to ${owner.name}, which is archived`)]
  })
  const disabled = rows.flatMap(({ order: { source } }, i) =>
    source.token_enabled === true ? [] : [atRow(i, 'token', `is ${source.token_code}, which is disabled`)],
  )
  const stoppedBy = (reason: ReturnType<typeof reasonOf>) =>
    holds.flatMap((hold, i) =>
      hold === null || reasonOf(hold) !== reason ? [] : [atRow(i, fieldOfHold(hold, rows[i]!.order), detailsOf(hold))],
    )
  const rest = new Map<string, bigint>()
  const uncovered = rows.flatMap(({ order: { source, amount } }, i) => {
    const key = `${source.address_id} ${source.token_id}`
    const left = (rest.get(key) ?? availableOf(source)) - amount
    rest.set(key, left)
    return left < 0n
      ? [atRow(i, 'amount', `is more ${source.token_code} than the rows before it leave of the address`)]
      : []
  })
  const objection = (reason: Objection['reason'], message: string, faults: FieldFault[]) =>
    faults.length === 0 ? [] : [{ reason, message, faults }]
  return {
    beforePolicies: [
      ...objection('archived', 'The counterparty of a row is archived', archived),
      ...objection('disabled', 'The token of a row is disabled', disabled),
      ...objection('held', 'A hold stops a row', stoppedBy('held')),
      ...objection('address_exposed', 'The address of a row is exposed', stoppedBy('address_exposed')),
    ],
    afterPolicies: [
      ...objection('insufficient_funds', 'Insufficient funds: fund the addresses, or pay less', uncovered),
      ...objection('insufficient_gas', insufficientGasMessage, uncovered.length === 0 ? unpayable : []),
    ],
  }
}

const fieldOfHold = ({ subjectType, subjectId }: ActiveHold, { source }: Order): string =>
  subjectType === 'counterparty' || (subjectType === 'address' && subjectId !== source.address_id)
    ? 'toAddress'
    : 'fromAddressId'

export function questionOf(
  rows: LoadedRow[],
  vaultId: string,
  initiator: Initiator,
  now: Date,
  availableOf: (source: Order['source']) => bigint = ({ available }) => BigInt(available ?? '0'),
): BatchQuestion {
  const orders = rows.map(({ order }) => ({
    ...factsOf(order, { initiator, category: null, now }),
    available: agreedAvailable(availableOf(order.source), order.source),
  }))
  return { vaultId, actionType: 'transfer', initiator, orders }
}

export type Sum = {
  tokenId: string
  asset: string
  network: string
  amount: string
  amountDecimal: string
  rowsCount: number
  usdValue: string | null
}

/** What the rows pay of each token, in the order in which the tokens occur. */
export function sumsOf(rows: LoadedRow[]): Sum[] {
  const tokenIds = new Set(rows.map(({ order }) => order.source.token_id))
  return [...tokenIds].map((tokenId) => {
    const group = rows.filter(({ order }) => order.source.token_id === tokenId)
    const { source } = group[0]!.order
    const amount = group.reduce((sum, { order }) => sum + order.amount, 0n)
    return {
      tokenId: source.token_id,
      asset: source.token_code,
      network: source.network_slug,
      amount: amount.toString(),
      amountDecimal: formatDecimal(amount, source.decimals),
      rowsCount: group.length,
      usdValue: source.usd_rate === null ? null : usdValueOf(amount, source.decimals, source.usd_rate),
    }
  })
}
