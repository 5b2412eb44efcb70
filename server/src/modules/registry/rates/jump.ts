import { parseDecimal } from '../../../lib/money.ts'

const rateScale = 18

/** The rates with which a new rate of a token is compared. */
export type Benchmarks = {
  /** The newest rate, of any age, which the new rate would replace. */
  newest: string
  /**
   * The rate from which the changes of a day are measured: the newest rate that two people confirmed or that is at
   * least a day old, or else the first rate. Without it, several small steps could add up to a jump.
   */
  anchor: string
}

/**
 * Returns the earlier rate from which `usdRate` differs by more than the factor, or null. A first rate is not a jump.
 *
 * @param factorHundredths 200 means more than twice or less than half
 */
export function findJump(usdRate: string, earlier: Benchmarks | null, factorHundredths: number): string | null {
  if (earlier === null) return null
  return [earlier.newest, earlier.anchor].find((rate) => differ(usdRate, rate, factorHundredths)) ?? null
}

/** Returns true if one rate is more than the factor times the other. */
export function differ(a: string, b: string, factorHundredths: number): boolean {
  const [x, y] = [parseDecimal(a, rateScale), parseDecimal(b, rateScale)]
  if (x === null || y === null) throw new Error(`No rates: ${a}, ${b}`)
  const factor = BigInt(factorHundredths)
  return x * 100n > y * factor || y * 100n > x * factor
}
