import type { FieldFault } from '../../../lib/errors.ts'
import type { Facts } from './facts.ts'

/** The result of a selector; null when it is unknown. `observed` is safe for JSON. */
export type Finding = { matched: boolean | null; observed: unknown }

/** The parsed value of a selector, or its fault, whose `field` is relative to the value ('' is the value itself). */
export type Reading<Value> = { value: Value } | { fault: FieldFault }

/** JSON Schema of a value, as the API shows it. */
export type JsonSchema = { [keyword: string]: unknown }

/** How values are written: parsed strictly by `read`, and described for those who draw a form. */
export type ValueForm<Value> = {
  read(value: unknown): Reading<Value>
  /** Admits what `read` admits, except for what a schema cannot say, such as checksums, zones and `min` below `max`. */
  schema: JsonSchema
  /** The comparisons that `op` may name; none for a set or a window. */
  operators: readonly string[]
}

export type SelectorKind = Pick<ValueForm<unknown>, 'schema' | 'operators'> & {
  findFault(value: unknown): FieldFault | null
  evaluate(value: unknown, facts: Facts): Finding
}

/** Creates a selector from the form of its value and its test of the facts; both are pure. */
export function defineSelector<Value>(
  { read, schema, operators }: ValueForm<Value>,
  find: (value: Value, facts: Facts) => Finding,
): SelectorKind {
  return {
    schema,
    operators,
    findFault(value) {
      const reading = read(value)
      return 'fault' in reading ? reading.fault : null
    },
    evaluate(value, facts) {
      const reading = read(value)
      return 'fault' in reading ? { matched: null, observed: null } : find(reading.value, facts)
    },
  }
}

/** A selector of one fact, which is shown as it is; without the fact the result is unknown. */
export function selectorOf<Value, Fact>(
  form: ValueForm<Value>,
  factOf: (facts: Facts) => Fact | undefined,
  matches: (value: Value, fact: Fact) => boolean,
): SelectorKind {
  return defineSelector(form, (value, facts) => {
    const fact = factOf(facts)
    return fact === undefined ? unknownFinding : { matched: matches(value, fact), observed: fact }
  })
}

export const unknownFinding: Finding = { matched: null, observed: null }

export function faultOf(message: string, field = ''): { fault: FieldFault } {
  return { fault: { field, message } }
}

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
