import { defineSelector, unknownFinding } from './selector.ts'
import { readSet } from './values.ts'

/** The counterparty that is paid or changed, by its id. A destination outside the address book certainly does not match. */
export const counterparty = defineSelector(readSet, (ids, { counterparty }) => {
  if (counterparty === null) return { matched: false, observed: null }
  const id = counterparty?.id
  return id === undefined ? unknownFinding : { matched: ids.includes(id), observed: id }
})
