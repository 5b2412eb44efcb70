import { defineSelector } from './selector.ts'
import { readSet } from './values.ts'

/** Who asks for the action, by user id. */
export const initiator = defineSelector(readSet, (userIds, { initiatorId }) => ({
  matched: userIds.includes(initiatorId),
  observed: initiatorId,
}))
