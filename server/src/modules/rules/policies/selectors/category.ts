import { defineSelector, unknownFinding } from './selector.ts'
import { readSet } from './values.ts'

/** The declared category of the operation, by its key. An operation without a category certainly does not match. */
export const category = defineSelector(readSet, (keys, { category }) => {
  if (category === undefined) return unknownFinding
  return { matched: category !== null && keys.includes(category), observed: category }
})
