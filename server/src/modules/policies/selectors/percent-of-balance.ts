import { multiplyDecimals, percentOf } from '../../../lib/money.ts'
import { defineSelector, unknownFinding } from './selector.ts'
import { type Comparison, meetsBy, readComparison } from './values.ts'

/**
 * The amount as a percentage of what the source address has available of the token before the transfer:
 * `{op: "gt", value: "50"}`. A share of nothing cannot be told.
 */
export const percentOfBalance = defineSelector(readComparison, (comparison: Comparison, { amount, available }) => {
  if (amount === undefined || available === undefined || available === '0') return unknownFinding
  // Compared as amount × 100 against bound × available: a division could not be exact.
  const matched = meetsBy(comparison, multiplyDecimals(amount, '100'), (bound) => multiplyDecimals(bound, available))
  return { matched, observed: percentOf(amount, available) }
})
