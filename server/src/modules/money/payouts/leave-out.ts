import type { Static } from 'typebox'
import type { ByMember, Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { badRequest, forbidden } from '../../../lib/errors.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { assertAwaiting } from '../transfers/transfer-votes.ts'
import type { LoadedRow } from './payout-rows.ts'
import { assertNotHalted, refusalToCancel } from './payout-votes.ts'
import { findPayout, type LockedPayout, listOrderedRows, lockVisiblePayout, type OrderedRow } from './queries.ts'
import type { LeftOutRow, PayoutBody } from './schema.ts'

/** The waiting payout whose place an order takes. */
export type Replaced = { payoutId: string; rows: OrderedRow[]; now: Date }

/** The rows of an order that takes the place of a payout, compared with the rows of that payout. */
export type Leaving = {
  payoutId: string
  leftOut: Static<typeof LeftOutRow>[]
  carriedIds: ReadonlySet<string>
  /** The amount of an account that the replaced payout releases. */
  releasedOf: (account: { address_id: string; token_id: string }) => bigint
}

type Replacing = NonNullable<PayoutBody['replaces']>

/** Reads the payout that a preview replaces. @throws 403 unless the caller ordered it; 404; 409 when it does not wait for votes */
export async function findReplaced(db: Db, { payoutId }: Replacing, { member, now }: ByMember): Promise<Replaced> {
  const payout = orNotFound(await findPayout(db, member, payoutId), 'Payout')
  assertReplaceable(payout, member, now)
  return { payoutId, rows: await listOrderedRows(db, member.vault.id, payoutId), now }
}

/**
 * Locks the payout that an order replaces and compares it with its audit records; a payout that differs is halted, which is
 * committed and answered with 409.
 *
 * @throws as `findReplaced`; 409 `held` when a transfer of it is itself held
 */
export async function lockReplaced(
  trx: Trx,
  log: Deps['log'],
  { payoutId }: Replacing,
  { member, now }: ByMember,
): Promise<{ payout: LockedPayout; replaced: Replaced } | Refusal> {
  const payout = await lockVisiblePayout(trx, member, payoutId)
  assertReplaceable(payout, member, now)
  const differs = await refusalToCancel(trx, log, payout, now)
  if (differs !== null) return differs
  return { payout, replaced: { payoutId, rows: await listOrderedRows(trx, member.vault.id, payoutId), now } }
}

function assertReplaceable(payout: LockedPayout, member: Member, now: Date): void {
  if (payout.initiator_id !== member.userId)
    throw forbidden('not_permitted', 'Only the initiator of a payout may leave rows of it out')
  assertNotHalted(payout)
  assertAwaiting('payout', payout, now)
}

/**
 * Compares the rows of an order with the rows of the payout that it replaces.
 * @throws 400 for a row that is not in that payout or differs from it, and for an order that leaves no row out
 */
export function leaveOut({ payoutId, rows: ordered }: Replaced, rows: LoadedRow[]): Leaving {
  const left = new Map(ordered.map((row) => [row.externalId, row]))
  for (const [i, { body, order }] of rows.entries()) {
    const earlier = left.get(body.externalId)
    if (earlier === undefined) throw badRequest(`rows.${i}.externalId`, 'is not a row of the payout that is replaced')
    const { fromAddressId, toAddress, tokenId, amount } = earlier.payload
    const { source, to, amount: raw } = order
    const isSame =
      source.address_id === fromAddressId &&
      to.address === toAddress &&
      source.token_id === tokenId &&
      raw.toString() === amount
    if (!isSame) throw badRequest(`rows.${i}`, 'is not as in the payout that is replaced')
    left.delete(body.externalId)
  }
  if (left.size === 0) throw badRequest('rows', 'must leave out a row of the payout that is replaced')
  const released = new Map<string, bigint>()
  for (const { payload } of ordered) {
    const account = `${payload.fromAddressId} ${payload.tokenId}`
    released.set(account, (released.get(account) ?? 0n) + BigInt(payload.amount))
  }
  return {
    payoutId,
    leftOut: [...left.values()].map(toLeftOut),
    carriedIds: new Set(rows.map(({ body }) => body.externalId)),
    releasedOf: ({ address_id, token_id }) => released.get(`${address_id} ${token_id}`) ?? 0n,
  }
}

function toLeftOut({ row, externalId, payload, asset, decimals }: OrderedRow): Static<typeof LeftOutRow> {
  const { toAddress, tokenId, amount } = payload
  return { row, externalId, toAddress, tokenId, asset, amount, amountDecimal: formatDecimal(amount, decimals) }
}
