import { defineSelector, unknownFinding } from './selector.ts'
import { readSet } from './values.ts'

/** The category that the operation is declared to be of, by its key. What is declared to be of none is certainly of none of them. */
export const category = defineSelector(readSet, (keys, { category }) => {
  if (category === undefined) return unknownFinding
  return { matched: category !== null && keys.includes(category), observed: category }
})
