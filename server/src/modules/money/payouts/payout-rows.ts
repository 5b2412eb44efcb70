import type { AddressScope } from '../../../access/address-scope.ts'
import type { ByMember, Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { AppError, badRequest, type FieldFault, faulty } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { faultsListedMax, signedTokensPerPayoutMax } from '../../../lib/limits.ts'
import { formatDecimal, usdValueOf } from '../../../lib/money.ts'
import type { ReasonOf } from '../../../lib/reasons.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { planPayout } from '../../../lib/signed-payout.ts'
import type { Initiator } from '../../rules/decisions/decide.ts'
import type { BatchQuestion } from '../../rules/decisions/decide-batch.ts'
import { agreedAvailable, findSources, type SourceRow } from '../orders/gather.ts'
import { factsOf, type Order, planOrder } from '../orders/load-order.ts'
import { hashPayload, type Payload } from '../orders/payload.ts'
import type { OrderBody } from '../orders/schema.ts'
import { type Terms, toPayload, toSignedPayload } from '../orders/sign-order.ts'
import type { PayoutBody, RowBody } from './schema.ts'

/** A row that was checked. */
export type LoadedRow = { body: RowBody; order: Order }

/** `riskScores` are the scores of the screening for the rows, if policies ask for them. */
type Loading = { scope: AddressScope; now: Date; locksHolds?: boolean; riskScores?: readonly (string | undefined)[] }

/**
 * Reads everything that the rows refer to, and checks all of them. Permission comes first: a row that pays from an address that
 * the caller does not see or may not transfer from refuses the payout, before any fault of the other rows is named.
 *
 * @throws 404 for addresses that the caller does not see, 403 for those they may not transfer from, 400 for faulty rows; each
 * names the rows
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

/** Returns the refusal of the whole payout that names the rows it concerns. */
export function refusalOf(
  reason: 'not_found' | ReasonOf<403> | ReasonOf<409>,
  message: string,
  faults: FieldFault[],
): AppError {
  return new AppError(reason, message, { details: faults.slice(0, faultsListedMax) })
}

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

/** Sums the payments of the rows by token, in the order in which the tokens occur. */
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

/** The payload that votes on a payout are bound to: the rows in their order, with the hashes of the orders of their transfers. */
type PayoutPayload = {
  payoutId: string
  vaultId: string
  initiatorId: string
  /** `payloadHash` is SHA-256 in hex. */
  rows: { externalId: string; transferId: string; payloadHash: string }[]
}

export function hashPayout(payload: PayoutPayload): Buffer {
  return sha256(canonicalJson(payload))
}

/** The orders of the rows of a payout with their hashes, and the hash of all orders, which votes are bound to. */
export type PlannedOrders = { payoutId: string; payloads: Payload[]; hashes: Buffer[]; hash: Buffer }

/** Returns the orders of a payout in a vault where orders are not signed. */
export function planUnsigned(rows: LoadedRow[], { member, now }: ByMember): PlannedOrders {
  const payoutId = newId(now)
  const payloads = rows.map(({ order }) => toPayload(newId(now), member, order))
  const hashes = payloads.map(hashPayload)
  const hashed = rows.map(({ body: { externalId } }, i) => ({
    externalId,
    transferId: payloads[i]!.transferId,
    payloadHash: hashes[i]!.toString('hex'),
  }))
  const by = { vaultId: member.vault.id, initiatorId: member.userId }
  return { payoutId, payloads, hashes, hash: hashPayout({ payoutId, ...by, rows: hashed }) }
}

/** Returns the signed part of a payout with these terms. @throws 400 when it pays in more tokens than can be signed */
export const planOf =
  (member: Member, rows: LoadedRow[]) =>
  (terms: Terms): PlannedOrders => {
    const { id: payoutId, expiresAt, rulesVersion } = terms
    const payloads = rows.map(({ order }, i) => toSignedPayload({ ...terms, id: idOfRow(payoutId, i) }, member, order))
    const hashes = payloads.map(hashPayload)
    const paid = payloads.map((payload, i) => ({ ...payload, order: hashes[i]!.toString('hex') }))
    const by = { vaultId: member.vault.id, initiatorId: member.userId }
    const { document, hash } = planPayout({ payoutId, ...by, rulesVersion, expiresAt }, paid)
    if (document.sums.length > signedTokensPerPayoutMax)
      throw badRequest('rows', `must not pay in more than ${signedTokensPerPayoutMax} tokens`)
    return { payoutId, payloads, hashes, hash }
  }

/**
 * Derives the id of a row from the id of the payout, in the order of the rows. Callers cannot choose the id of a payout, so
 * they cannot choose these ids.
 */
function idOfRow(payoutId: string, index: number): string {
  const [prefix, rest] = [payoutId.slice(0, 14), payoutId.slice(16)]
  return prefix + index.toString(36).padStart(2, '0') + rest
}
