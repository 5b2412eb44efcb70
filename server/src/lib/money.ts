import { rawAmountMax } from './limits.ts'

/** Plain decimal strings: no sign, exponent, leading `+`, thousands mark or needless leading zero. */
export const decimalPattern = '^(0|[1-9][0-9]{0,77})(\\.[0-9]{1,36})?$'
/** Raw amounts: digits only. */
export const rawAmountPattern = '^(0|[1-9][0-9]{0,77})$'

const decimalForm = new RegExp(decimalPattern)

/** Returns true if a text has the form of a decimal amount of any token. */
export const isDecimal = (text: string): boolean => decimalForm.test(text)

/**
 * Parses a decimal amount in token units into raw smallest units. Returns null for anything inexact: wrong form, more fraction
 * digits than `decimals`, or above 2^256-1.
 */
export function parseDecimal(text: string, decimals: number): bigint | null {
  if (!decimalForm.test(text)) return null
  const [whole = '', fraction = ''] = text.split('.')
  const significant = fraction.replace(/0+$/, '')
  if (significant.length > decimals) return null
  const raw = BigInt(whole + significant.padEnd(decimals, '0'))
  return raw > rawAmountMax ? null : raw
}

/** Formats raw smallest units as a decimal string in token units, without trailing fraction zeros (`"1.5"`, `"0"`, `"-0.25"`). */
export function formatDecimal(raw: bigint | string, decimals: number): string {
  const value = BigInt(raw)
  const sign = value < 0n ? '-' : ''
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`
}

/** Returns a plain decimal string without trailing zeros of its fraction. */
export function trimDecimal(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

/**
 * Returns the value of a raw amount: USD with two decimals, rounded half to even (contract 1.4).
 *
 * @param usdRate USD per token unit, a plain decimal string
 */
export function usdValueOf(raw: bigint, decimals: number, usdRate: string): string {
  const scale = fractionDigits(usdRate)
  const divisor = 10n ** BigInt(decimals + scale)
  const cents = raw * scaled(usdRate, scale) * 100n
  const quotient = cents / divisor
  const twiceRest = (cents % divisor) * 2n
  const isRoundedUp = twiceRest > divisor || (twiceRest === divisor && quotient % 2n === 1n)
  const digits = (quotient + (isRoundedUp ? 1n : 0n)).toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/**
 * Compares two decimal strings of any scale, plain or with a minus sign: negative, zero or positive like `a - b`. Plain strings
 * are compared by their digits alone, because policies compare thousands of them for one transfer.
 */
export function compareDecimals(a: string, b: string): number {
  if (a.startsWith('-') || b.startsWith('-')) return compareSigned(a, b)
  const wholeOfA = wholeDigits(a)
  const wholeOfB = wholeDigits(b)
  if (wholeOfA !== wholeOfB) return wholeOfA - wholeOfB
  const length = Math.max(a.length, b.length)
  for (let i = 0; i < length; i += 1) {
    // Past the end of the shorter string its digits are zeros. A decimal point in both strings is at the same position here.
    const digitOfA = i < a.length ? a.charCodeAt(i) : i === wholeOfA ? point : zero
    const digitOfB = i < b.length ? b.charCodeAt(i) : i === wholeOfA ? point : zero
    if (digitOfA !== digitOfB) return digitOfA - digitOfB
  }
  return 0
}

function compareSigned(a: string, b: string): number {
  const scale = Math.max(fractionDigits(a), fractionDigits(b))
  const difference = scaled(a, scale) - scaled(b, scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

const point = '.'.charCodeAt(0)
const zero = '0'.charCodeAt(0)

function wholeDigits(text: string): number {
  const at = text.indexOf('.')
  return at < 0 ? text.length : at
}

/** Returns the exact sum of two plain decimal strings. */
export function addDecimals(a: string, b: string): string {
  const scale = Math.max(fractionDigits(a), fractionDigits(b))
  return formatDecimal(scaled(a, scale) + scaled(b, scale), scale)
}

/** Returns the exact difference of two plain decimal strings. It is below zero when `b` is greater. */
export function subtractDecimals(a: string, b: string): string {
  const scale = Math.max(fractionDigits(a), fractionDigits(b))
  return formatDecimal(scaled(a, scale) - scaled(b, scale), scale)
}

/** Returns the exact product of two plain decimal strings. */
export function multiplyDecimals(a: string, b: string): string {
  const [scaleOfA, scaleOfB] = [fractionDigits(a), fractionDigits(b)]
  return formatDecimal(scaled(a, scaleOfA) * scaled(b, scaleOfB), scaleOfA + scaleOfB)
}

/**
 * Returns the percentage of `whole` that a part is, cut off after six fraction digits. It is for display, not for comparisons.
 *
 * @param whole a plain decimal string above zero
 */
export function percentOf(part: string, whole: string): string {
  const scale = Math.max(fractionDigits(part), fractionDigits(whole))
  return formatDecimal((scaled(part, scale) * 100_000_000n) / scaled(whole, scale), 6)
}

function fractionDigits(text: string): number {
  const point = text.indexOf('.')
  return point < 0 ? 0 : text.length - point - 1
}

function scaled(text: string, scale: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(scale, '0'))
}
