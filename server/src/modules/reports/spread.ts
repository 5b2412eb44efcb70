import type { Activity } from './activity.ts'
import { formatAverage, formatMedian } from './exact.ts'

/** How the amounts of one token lie: mean and median in token units, extremes raw. */
export type Spread = { average: string; median: string; minimum: bigint; maximum: bigint }

/** The spread of every token that has operations which count. */
export function spreadsOf({ overall, medians, assets, isCounted }: Activity): Map<string, Spread> {
  const sums = new Map<string, { count: number; amount: bigint; minimum: bigint; maximum: bigint }>()
  for (const { tokenId, status, count, amount, smallest, largest } of overall) {
    if (!isCounted(status)) continue
    const sum = sums.get(tokenId) ?? { count: 0, amount: 0n, minimum: smallest, maximum: largest }
    sums.set(tokenId, {
      count: sum.count + count,
      amount: sum.amount + amount,
      minimum: smallest < sum.minimum ? smallest : sum.minimum,
      maximum: largest > sum.maximum ? largest : sum.maximum,
    })
  }
  return new Map(
    [...sums].map(([tokenId, { count, amount, minimum, maximum }]) => {
      const { decimals } = assets.get(tokenId)!
      const { lower, upper } = medians.get(tokenId)!
      const average = formatAverage(amount, count, decimals)
      return [tokenId, { average, median: formatMedian(lower, upper, decimals), minimum, maximum }]
    }),
  )
}
