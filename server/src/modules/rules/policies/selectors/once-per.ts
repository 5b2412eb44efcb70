import type { Facts } from '../facts.ts'

/** Computes what follows from the facts of a decision alone once for it, however many policies look at it. */
export function oncePerFacts<Value>(compute: (facts: Facts) => Value): (facts: Facts) => Value {
  const computed = new WeakMap<Facts, { value: Value }>()
  return (facts) => {
    let entry = computed.get(facts)
    if (entry === undefined) {
      entry = { value: compute(facts) }
      computed.set(facts, entry)
    }
    return entry.value
  }
}
