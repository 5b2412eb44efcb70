import { counterpartyKinds } from '../facts.ts'
import { defineSelector, unknownFinding } from './selector.ts'
import { readSetOf } from './values.ts'

const kinds: readonly string[] = counterpartyKinds

/** The kind of the counterparty. A destination outside the address book certainly does not match. */
export const counterpartyKind = defineSelector(
  readSetOf((text) => kinds.includes(text), `must be one of ${kinds.join(', ')}`),
  (named, { counterparty }) => {
    if (counterparty === null) return { matched: false, observed: null }
    const kind = counterparty?.kind
    return kind === undefined ? unknownFinding : { matched: named.includes(kind), observed: kind }
  },
)
