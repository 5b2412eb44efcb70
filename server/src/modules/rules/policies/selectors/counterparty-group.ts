import { defineSelector, unknownFinding } from './selector.ts'
import { readSet } from './values.ts'

/**
 * A counterparty group by its id: the one that a counterparty_group_* action acts upon, else those that the counterparty
 * is in now.
 */
export const counterpartyGroup = defineSelector(readSet, (ids, { counterparty, counterpartyGroupIds }) => {
  if (counterpartyGroupIds === undefined && counterparty === null) return { matched: false, observed: null }
  const groupIds = counterpartyGroupIds ?? counterparty?.groupIds
  return groupIds === undefined
    ? unknownFinding
    : { matched: ids.some((id) => groupIds.includes(id)), observed: groupIds }
})
