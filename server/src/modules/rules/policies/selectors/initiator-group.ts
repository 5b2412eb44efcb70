import { defineSelector } from './selector.ts'
import { readSet } from './values.ts'

/** A policy group that the initiator is in, by its id. */
export const initiatorGroup = defineSelector(readSet, (groupIds, { initiatorGroupIds }) => ({
  matched: groupIds.some((id) => initiatorGroupIds.includes(id)),
  observed: initiatorGroupIds,
}))
