import { multiplyDecimals } from '../../../lib/money.ts'
import { defineSelector, unknownFinding } from './selector.ts'
import { meets, readComparison } from './values.ts'

/** The amount in USD at the rate of the moment, exact and not rounded to cents: `{op: "gt", value: "10000"}`. */
export const amountUsd = defineSelector(readComparison, (comparison, { amount, usdRate }) => {
  if (amount === undefined || usdRate === undefined) return unknownFinding
  const usd = multiplyDecimals(amount, usdRate)
  return { matched: meets(comparison, usd), observed: usd }
})
