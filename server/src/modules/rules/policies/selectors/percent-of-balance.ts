import { multiplyDecimals, percentOf } from '../../../../lib/money.ts'
import { oncePerFacts } from './once-per.ts'
import { defineSelector, unknownFinding } from './selector.ts'
import { meetsBy, readComparison } from './values.ts'

/**
 * The amount as a percentage of what the source address has available of the token before the transfer:
 * `{op: "gt", value: "50"}`. If nothing is available, the result is unknown.
 */
export const percentOfBalance = defineSelector(readComparison, (comparison, facts) => {
  const share = shareOf(facts)
  if (share === null) return unknownFinding
  const { hundredfold, available, percent } = share
  // Compared as amount × 100 against bound × available: a division would not be exact.
  const matched = meetsBy(comparison, hundredfold, (bound) => multiplyDecimals(bound, available))
  return { matched, observed: percent }
})

const shareOf = oncePerFacts(({ amount, available }) =>
  amount === undefined || available === undefined || available === '0'
    ? null
    : { hundredfold: multiplyDecimals(amount, '100'), available, percent: percentOf(amount, available) },
)
