import { defineSelector, unknownFinding } from './selector.ts'
import { readSet } from './values.ts'

/** The token by id or code. A code may exist on several networks; the id names one of them. */
export const token = defineSelector(readSet, (named, { token }) =>
  token === undefined
    ? unknownFinding
    : { matched: named.includes(token.id) || named.includes(token.code), observed: token.code },
)
