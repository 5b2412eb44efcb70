import { defineSelector, unknownFinding } from './selector.ts'
import { meets, readComparison } from './values.ts'

/** The amount in token units against a bound: `{op: "gt", value: "1000"}`. */
export const amount = defineSelector(readComparison, (comparison, { amount }) =>
  amount === undefined ? unknownFinding : { matched: meets(comparison, amount), observed: amount },
)
