import { multiplyDecimals } from '../../../../lib/money.ts'
import { oncePerFacts } from './once-per.ts'
import { defineSelector, unknownFinding } from './selector.ts'
import { meets, readComparison } from './values.ts'

/** The amount in USD at the rate of the moment, exact and not rounded to cents: `{op: "gt", value: "10000"}`. */
export const amountUsd = defineSelector(readComparison, (comparison, facts) => {
  const usd = usdOf(facts)
  return usd === null ? unknownFinding : { matched: meets(comparison, usd), observed: usd }
})

/** What the amount is worth in USD; null when there is no rate. */
export const usdOf = oncePerFacts(({ amount, usdRate }) =>
  amount === undefined || usdRate === undefined ? null : multiplyDecimals(amount, usdRate),
)
