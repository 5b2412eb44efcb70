import type { Facts } from '../facts.ts'

/** Computes a value that depends only on the facts of a decision once, for all policies of the decision. */
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
