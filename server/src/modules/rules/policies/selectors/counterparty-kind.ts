import { counterpartyKinds } from '../facts.ts'
import { defineSelector, unknownFinding } from './selector.ts'
import { readSetOf } from './values.ts'

const kinds: readonly string[] = counterpartyKinds

/** What the counterparty is. A destination outside the address book is certainly of no kind. */
export const counterpartyKind = defineSelector(
  readSetOf((text) => kinds.includes(text), `must be one of ${kinds.join(', ')}`),
  (named, { counterparty }) => {
    if (counterparty === null) return { matched: false, observed: null }
    const kind = counterparty?.kind
    return kind === undefined ? unknownFinding : { matched: named.includes(kind), observed: kind }
  },
)
