import { destinationTypes } from '../facts.ts'
import { defineSelector, unknownFinding } from './selector.ts'
import { readSetOf } from './values.ts'

const types: readonly string[] = destinationTypes

/** The type of the destination: an address of this service, one of the address book, or neither. */
export const destinationType = defineSelector(
  readSetOf((text) => types.includes(text), `must be one of ${types.join(', ')}`),
  (named, { destinationType }) =>
    destinationType === undefined
      ? unknownFinding
      : { matched: named.includes(destinationType), observed: destinationType },
)
