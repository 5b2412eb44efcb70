import { parseDecimal } from '../../../lib/money.ts'

const rateScale = 18

/** What a new rate of a token is compared with. */
export type Benchmarks = {
  /** The newest rate, however old it is: what the rate would take the place of. */
  newest: string
  /**
   * The rate from which the changes of a day count: the newest that two people agreed on or that was recorded a day ago,
   * and the first one where there is neither. Without it, several small steps would add up to a jump.
   */
  anchor: string
}

/**
 * The earlier rate from which `usdRate` differs by more than the factor. null: it is no jump; a first rate is none.
 *
 * @param factorHundredths 200: more than twice, or less than half
 */
export function findJump(usdRate: string, earlier: Benchmarks | null, factorHundredths: number): string | null {
  if (earlier === null) return null
  return [earlier.newest, earlier.anchor].find((rate) => differ(usdRate, rate, factorHundredths)) ?? null
}

/** Whether one rate is more than the factor times the other. */
export function differ(a: string, b: string, factorHundredths: number): boolean {
  const [x, y] = [parseDecimal(a, rateScale), parseDecimal(b, rateScale)]
  if (x === null || y === null) throw new Error(`No rates: ${a}, ${b}`)
  const factor = BigInt(factorHundredths)
  return x * 100n > y * factor || y * 100n > x * factor
}
