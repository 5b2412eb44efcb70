import { defineSelector, unknownFinding } from './selector.ts'
import { readSet } from './values.ts'

/** A folder that the source address is in, by its id. */
export const addressGroup = defineSelector(readSet, (groupIds, { addressGroupIds }) =>
  addressGroupIds === undefined
    ? unknownFinding
    : { matched: groupIds.some((id) => addressGroupIds.includes(id)), observed: addressGroupIds },
)
