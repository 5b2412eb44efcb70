import { defineSelector } from './selector.ts'
import { readSet } from './values.ts'

/** The initiator of the action, by user id. */
export const initiator = defineSelector(readSet, (userIds, { initiatorId }) => ({
  matched: userIds.includes(initiatorId),
  observed: initiatorId,
}))
