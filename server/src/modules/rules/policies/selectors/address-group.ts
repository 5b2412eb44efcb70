import { defineSelector, unknownFinding } from './selector.ts'
import { readSet } from './values.ts'

/**
 * A folder that the source address is in, by its id. Observed are those of the named ones that it is in: what other
 * folders its owner keeps is not for every reader of a trace.
 */
export const addressGroup = defineSelector(readSet, (groupIds, { addressGroupIds }) => {
  if (addressGroupIds === undefined) return unknownFinding
  const observed = groupIds.filter((id) => addressGroupIds.includes(id))
  return { matched: observed.length > 0, observed }
})
