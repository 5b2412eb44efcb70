import { defineSelector, unknownFinding } from './selector.ts'
import { readSet } from './values.ts'

/**
 * A folder that the source address is in, by its id. `observed` contains only named folders, because not every reader of
 * a trace may know the other folders of the owner.
 */
export const addressGroup = defineSelector(readSet, (groupIds, { addressGroupIds }) => {
  if (addressGroupIds === undefined) return unknownFinding
  const observed = groupIds.filter((id) => addressGroupIds.includes(id))
  return { matched: observed.length > 0, observed }
})
