import { formatDecimal } from '../../../lib/money.ts'

/** Exact arithmetic of reports: raw amounts and USD cents are bigint until they are printed. */

/** Parses USD with two decimals, as PostgreSQL prints numeric(78,2), into cents; null is zero. */
export function centsOf(usd: string | null): bigint {
  return usd === null ? 0n : BigInt(usd.replace('.', ''))
}

/** Returns cents as USD with both decimals (`"1234.50"`, `"-0.05"`). */
export function formatUsd(cents: bigint): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** Returns a quotient rounded half to even; `divisor` is above zero. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const isNegative = dividend < 0n
  const magnitude = isNegative ? -dividend : dividend
  const quotient = magnitude / divisor
  const twiceRest = (magnitude % divisor) * 2n
  const isRoundedUp = twiceRest > divisor || (twiceRest === divisor && quotient % 2n === 1n)
  const rounded = quotient + (isRoundedUp ? 1n : 0n)
  return isNegative ? -rounded : rounded
}

/** Returns the mean of raw amounts in token units, rounded half to even to the decimals of the token. */
export function formatAverage(sum: bigint, count: number, decimals: number): string {
  return formatDecimal(divideHalfEven(sum, BigInt(count)), decimals)
}

/** Returns the mean of the two middle raw amounts in token units: exact, with one digit more than the token where necessary. */
export function formatMedian(lower: bigint, upper: bigint, decimals: number): string {
  return formatDecimal((lower + upper) * 5n, decimals + 1)
}

/** Returns the change from `previous` to `current` in per cent, to two decimals; null when `previous` is zero. */
export function changePercent(current: bigint, previous: bigint): number | null {
  if (previous === 0n) return null
  return Number(divideHalfEven((current - previous) * 10_000n, previous < 0n ? -previous : previous)) / 100
}

/** Returns the share of `part` in `whole` in per cent, to two decimals; null when `whole` is zero. */
export function sharePercent(part: bigint, whole: bigint): number | null {
  return whole === 0n ? null : Number(divideHalfEven(part * 10_000n, whole)) / 100
}

/** Returns milliseconds as seconds. */
export function secondsOf(milliseconds: bigint): number {
  return Number(milliseconds) / 1000
}
