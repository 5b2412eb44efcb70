import type { Address, AddressBalance, PayoutOrder } from '@strongroom/sdk'
import { fromRaw, toRaw } from '@strongroom/sdk'
import { newIdempotencyKey } from '../../lib/forms.ts'
import { bookOf, isAddressLike, type Known } from '../../lib/recipient.ts'
import type { Entered } from '../../lib/sign-votes.ts'

/** The columns of the file, and other names for them. */
export const payoutColumns = {
  externalId: ['id', 'reference', 'invoice', 'Referenz', 'Rechnung'],
  toAddress: ['address', 'to', 'wallet', 'recipient address', 'Adresse'],
  amount: ['sum', 'Betrag'],
  paymentPurpose: ['purpose', 'Zweck', 'Verwendungszweck'],
  note: ['comment', 'Notiz'],
}

export type PayoutField = keyof typeof payoutColumns
/** `number` is the line of the file; `refusal` is the service's message about it. */
export type DraftRow = Record<PayoutField, string> & { number: number; refusal: string | null }

export type Verdict =
  | 'known'
  | 'new'
  | 'look-alike'
  | 'no id'
  | 'same id'
  | 'no address'
  | 'no amount'
  | 'over balance'
  | 'refused'

export type Judged = { row: DraftRow; verdict: Verdict; other: Known | null }

/** Returns a verdict for every row. Rows that exceed the balance of the paying address, in order, are over balance. */
export function judgePayout(rows: readonly DraftRow[], known: readonly Known[], balance: AddressBalance): Judged[] {
  const book = bookOf(known)
  const ids = new Set<string>()
  let left = BigInt(balance.available)
  return rows.map((row) => {
    const judged = (verdict: Verdict, other: Known | null = null): Judged => ({ row, verdict, other })
    if (row.refusal !== null) return judged('refused')
    if (row.externalId === '') return judged('no id')
    if (ids.has(row.externalId)) return judged('same id')
    ids.add(row.externalId)
    if (!isAddressLike(row.toAddress)) return judged('no address')
    const raw = rawOf(row.amount, balance.decimals)
    if (raw === null) return judged('no amount')
    left -= raw
    if (left < 0n) return judged('over balance')
    const same = book.same(row.toAddress)
    if (same !== undefined) return judged('known', same)
    const alike = book.alike(row.toAddress)
    return alike === undefined ? judged('new') : judged('look-alike', alike)
  })
}

/**
 * Reads an amount in the smallest unit, or returns null. Programs write the files: amounts have a decimal point, and no
 * separators of thousands.
 */
export function rawOf(amount: string, decimals: number): bigint | null {
  if (!/^\d+(\.\d+)?$/.test(amount)) return null
  try {
    const raw = toRaw(amount, decimals)
    return raw > 0n ? raw : null
  } catch {
    return null
  }
}

export function isPayable({ verdict }: Judged, withLookAlikes: boolean): boolean {
  return verdict === 'known' || verdict === 'new' || (verdict === 'look-alike' && withLookAlikes)
}

/** Returns the sum of the rows, in token units. Rows without an amount count as zero. */
export function sumOf(rows: readonly DraftRow[], { decimals }: AddressBalance): string {
  const sum = rows.reduce((total, { amount }) => total + (rawOf(amount, decimals) ?? 0n), 0n)
  return fromRaw(sum, decimals)
}

type Head = { name: string; paymentPurpose: string; fromAddressId: string; tokenId: string }

export function orderOf(
  rows: readonly DraftRow[],
  { name, paymentPurpose, fromAddressId, tokenId }: Head,
): PayoutOrder {
  return {
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(paymentPurpose.trim() === '' ? {} : { paymentPurpose: paymentPurpose.trim() }),
    rows: rows.map((row) => ({
      externalId: row.externalId,
      fromAddressId,
      tokenId,
      toAddress: row.toAddress,
      amount: row.amount,
      ...(row.paymentPurpose === '' ? {} : { paymentPurpose: row.paymentPurpose }),
      ...(row.note === '' ? {} : { note: row.note }),
    })),
  }
}

/** Returns the fields of each row as the person entered them, without the values that the service adds. */
export const enteredOf = (
  { rows }: PayoutOrder,
  { address, network }: Pick<Address, 'address' | 'network'>,
  { symbol }: Pick<AddressBalance, 'symbol'>,
): Entered[] => rows.map(({ toAddress, amount }) => ({ fromAddress: address, network, symbol, toAddress, amount }))

/**
 * Returns the idempotency key of an order. It is a hash of the order's content, so that the same list is paid only
 * once.
 */
export async function keyOf(order: PayoutOrder): Promise<string> {
  // Browsers have digests on secure origins only. Elsewhere, the references of the rows keep a list from being paid
  // twice.
  if (crypto.subtle === undefined) return newIdempotencyKey()
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(order)))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
