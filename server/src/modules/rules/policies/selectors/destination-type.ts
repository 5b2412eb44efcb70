import { defineSelector, unknownFinding } from './selector.ts'
import { readSetOf } from './values.ts'

const destinationTypes: readonly string[] = ['internal', 'counterparty', 'unknown']

/** What the destination is to us: an address of this service, one of the address book, or neither. */
export const destinationType = defineSelector(
  readSetOf((text) => destinationTypes.includes(text), `must be one of ${destinationTypes.join(', ')}`),
  (types, { destinationType }) =>
    destinationType === undefined
      ? unknownFinding
      : { matched: types.includes(destinationType), observed: destinationType },
)
