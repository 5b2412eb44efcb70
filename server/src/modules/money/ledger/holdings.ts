import { addDecimals, formatDecimal, multiplyDecimals, usdValueOf } from '../../../lib/money.ts'

/** An amount of a token with the rate of the moment; null where no rate is fresh enough (contract 3.3). */
export type Holding = { raw: bigint; decimals: number; usdRate: string | null }

/** USD with two decimals; nothing is worth nothing, whatever the rate. null without a rate. */
export function usdOfHolding({ raw, decimals, usdRate }: Holding): string | null {
  if (raw === 0n) return '0.00'
  return usdRate === null ? null : usdValueOf(raw, decimals, usdRate)
}

/** Returns the USD value of holdings with rates: the exact sum, rounded once. */
export function sumOfHoldings(holdings: Holding[]): string {
  const exact = holdings
    .filter(({ raw, usdRate }) => raw !== 0n && usdRate !== null)
    .map(({ raw, decimals, usdRate }) => multiplyDecimals(formatDecimal(raw, decimals), usdRate!))
    .reduce(addDecimals, '0')
  return usdValueOf(1n, 0, exact)
}
