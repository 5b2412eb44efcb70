import { formatDecimal } from '../../../lib/money.ts'
import { formatAverage, formatMedian } from '../requests/exact.ts'
import type { Activity } from './flows.ts'

/** The distribution of the amounts of one token, in token units. */
export type Spread = { average: string; median: string; minimum: string; maximum: string }

/** Returns the spread of every token that has operations which count. */
export function spreadsOf({ overall, orderStatistics, assets, isCounted }: Activity): Map<string, Spread> {
  const sums = new Map<string, { count: number; amount: bigint }>()
  for (const { tokenId, status, count, amount } of overall) {
    if (!isCounted(status)) continue
    const sum = sums.get(tokenId) ?? { count: 0, amount: 0n }
    sums.set(tokenId, { count: sum.count + count, amount: sum.amount + amount })
  }
  return new Map(
    [...sums].map(([tokenId, { count, amount }]) => {
      const { decimals } = assets.get(tokenId)!
      const { smallest, lower, upper, largest } = orderStatistics.get(tokenId)!
      return [
        tokenId,
        {
          average: formatAverage(amount, count, decimals),
          median: formatMedian(lower, upper, decimals),
          minimum: formatDecimal(smallest, decimals),
          maximum: formatDecimal(largest, decimals),
        },
      ]
    }),
  )
}
