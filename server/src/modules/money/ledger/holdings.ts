import { addDecimals, formatDecimal, multiplyDecimals, usdValueOf } from '../../../lib/money.ts'

/** An amount of a token with the present rate; null where no rate is fresh enough (contract 3.3). */
export type Holding = { raw: bigint; decimals: number; usdRate: string | null }

/** Returns the value in USD with two decimals. Zero units are worth zero even without a rate; any other amount without a rate is null. */
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
