import type { Address, AddressBalance, CheckedRecipient, PayoutOrder } from '@strongroom/sdk'
import { fromRaw, toRaw } from '@strongroom/sdk'
import { newIdempotencyKey } from '../../lib/forms.ts'
import { addressKey, type FindChecked, isAddressLike, verdictOf } from '../../lib/recipient.ts'
import type { Entered } from '../../lib/sign-votes.ts'

/** The columns of the file, and other names for them. */
export const payoutColumns = {
  externalId: ['id', 'reference', 'invoice', 'Referenz', 'Rechnung'],
  toAddress: ['address', 'to', 'wallet', 'recipient address', 'Adresse'],
  amount: ['sum', 'Betrag'],
  paymentPurpose: ['purpose', 'Zweck', 'Verwendungszweck'],
  note: ['comment', 'Notiz'],
  payer: ['from', 'from address', 'source', 'Zahler', 'Von'],
  token: ['asset', 'currency', 'coin', 'Währung'],
}

export type PayoutField = keyof typeof payoutColumns
export const requiredFields: readonly PayoutField[] = ['externalId', 'toAddress', 'amount']
/** `number` is the line of the file; `refusal` is the service's message about it. */
export type DraftRow = Record<PayoutField, string> & { number: number; refusal: string | null }

export type Source = Pick<Address, 'id' | 'address' | 'label' | 'network' | 'balances'>
/** The address and the token that a row is paid from. */
export type Payer = { source: Source; balance: AddressBalance }

/** The choice of a payer or a token that each row of the file names for itself. */
export const inFile = 'in the file'
/** The ids of an address and of a token, each `inFile` or '' for none. */
export type PayerChoice = { sourceId: string; tokenId: string }

/** Returns the payer of a row, or the reason why it has none. */
export function payerOf(
  { payer, token }: Pick<DraftRow, 'payer' | 'token'>,
  { sourceId, tokenId }: PayerChoice,
  sources: readonly Source[],
): Payer | 'no payer' | 'no token' {
  const named = sources.filter(({ id, address, label }) =>
    sourceId === inFile
      ? payer !== '' && [address, label, id].some((text) => isSameText(text, payer))
      : id === sourceId,
  )
  // Two addresses with the same label are no answer.
  if (named.length !== 1) return 'no payer'
  const [source] = named as [Source]
  const balances = source.balances.filter((entry) =>
    tokenId === inFile ? isSameText(entry.symbol, token) || isSameText(entry.asset, token) : entry.tokenId === tokenId,
  )
  return balances.length === 1 ? { source, balance: balances[0]! } : 'no token'
}

const isSameText = (text: string | null, wanted: string) =>
  text !== null && addressKey(text.trim()).toLowerCase() === addressKey(wanted).toLowerCase()

export type Verdict =
  | ReturnType<typeof verdictOf>
  | 'no id'
  | 'same id'
  | 'no payer'
  | 'no token'
  | 'no amount'
  | 'over balance'
  | 'refused'

export type Judged = { row: DraftRow; payer: Payer | null; verdict: Verdict; checked: CheckedRecipient | null }

const accountOf = ({ source, balance }: Payer) => `${source.id} ${balance.tokenId}`

/**
 * Returns a verdict for every row. `find` says what the service knows of a recipient. Rows that exceed the balance of what pays them,
 * in order, are over balance.
 */
export function judgePayout(
  rows: readonly DraftRow[],
  find: FindChecked,
  findPayer: (row: DraftRow) => ReturnType<typeof payerOf>,
): Judged[] {
  const ids = new Set<string>()
  const rest = new Map<string, bigint>()
  return rows.map((row) => {
    const found = findPayer(row)
    const payer = typeof found === 'string' ? null : found
    const judged = (verdict: Verdict, checked: CheckedRecipient | null = null): Judged => ({
      row,
      payer,
      verdict,
      checked,
    })
    if (row.refusal !== null) return judged('refused')
    if (row.externalId === '') return judged('no id')
    if (ids.has(row.externalId)) return judged('same id')
    ids.add(row.externalId)
    if (!isAddressLike(row.toAddress)) return judged('no address')
    if (typeof found === 'string') return judged(found)
    const raw = rawOf(row.amount, found.balance.decimals)
    if (raw === null) return judged('no amount')
    const account = accountOf(found)
    const left = (rest.get(account) ?? BigInt(found.balance.available)) - raw
    rest.set(account, left)
    if (left < 0n) return judged('over balance')
    const checked = find({ network: found.source.network, address: row.toAddress })
    return judged(verdictOf(checked), checked)
  })
}

/** An amount with a decimal comma, and points between its thousands if it has any. */
const withComma = /^(?:\d+|\d{1,3}(?:\.\d{3})+),\d+$/

/**
 * Returns the amounts of a file with a decimal point. A file has decimal commas if one of its amounts cannot be read otherwise,
 * such as "12,50" or "1.234,56"; then a point stands between thousands. An amount that could mean two numbers, such as "1,234"
 * in a file without such an amount, stays as it is and is no amount.
 */
export function withDecimalPoint(amounts: readonly string[]): string[] {
  const isGerman = amounts.some((text) => withComma.test(text) && (text.includes('.') || !/,\d{3}$/.test(text)))
  if (!isGerman) return [...amounts]
  return amounts.map((text) => {
    if (withComma.test(text)) return text.replaceAll('.', '').replace(',', '.')
    if (/^\d{1,3}(?:\.\d{3})+$/.test(text)) return text.replaceAll('.', '')
    // "1.5" among decimal commas is a slip. The service reads it as an amount, so it must not stay one.
    return /^\d+$/.test(text) ? text : text.replace('.', ' . ')
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
  return ['known', 'new', 'paid before'].includes(verdict) || (verdict === 'look-alike' && withLookAlikes)
}

export type PayerSum = Payer & { count: number; amount: string }

/** Returns the sum of each payer and token, in the order of their first rows. Rows without an amount count as zero. */
export function sumsOf(judged: readonly Judged[]): PayerSum[] {
  const sums = new Map<string, { payer: Payer; raw: bigint; count: number }>()
  for (const { payer, row } of judged) {
    if (payer === null) continue
    const sum = sums.get(accountOf(payer)) ?? { payer, raw: 0n, count: 0 }
    sum.raw += rawOf(row.amount, payer.balance.decimals) ?? 0n
    sum.count += 1
    sums.set(accountOf(payer), sum)
  }
  return [...sums.values()].map(({ payer, raw, count }) => {
    return { ...payer, count, amount: fromRaw(raw, payer.balance.decimals) }
  })
}

/** Returns the order of rows that all have a payer, and their fields as the person entered them. */
export function orderOf(judged: readonly Judged[], name: string): { order: PayoutOrder; entered: Entered[] } {
  const paid = judged.flatMap(({ row, payer }) => (payer === null ? [] : [{ row, ...payer }]))
  return {
    order: {
      ...(name.trim() === '' ? {} : { name: name.trim() }),
      rows: paid.map(({ row, source, balance }) => ({
        externalId: row.externalId,
        fromAddressId: source.id,
        tokenId: balance.tokenId,
        toAddress: row.toAddress,
        amount: row.amount,
        ...(row.paymentPurpose === '' ? {} : { paymentPurpose: row.paymentPurpose }),
        ...(row.note === '' ? {} : { note: row.note }),
      })),
    },
    entered: paid.map(({ row: { toAddress, amount }, source: { address, network }, balance: { symbol } }) => {
      return { fromAddress: address, network, symbol, toAddress, amount }
    }),
  }
}

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
