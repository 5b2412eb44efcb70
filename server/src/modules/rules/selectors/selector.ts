import type { FieldFault } from '../../../lib/errors.ts'
import { selectorValueLengthMax, selectorValuesMax } from '../../../lib/limits.ts'
import { compareDecimals, decimalPattern } from '../../../lib/money.ts'
import { type NetworkType, parseOnchainAddress } from '../../../lib/onchain-address.ts'
import type { Facts } from './facts.ts'

/** The result of a selector; null when it is unknown. `observed` is safe for JSON. */
export type Finding = { matched: boolean | null; observed: unknown }

/** The parsed value of a selector, or its fault, whose `field` is relative to the value ('' is the value itself). */
export type Reading<Value> = { value: Value } | { fault: FieldFault }

/** JSON Schema of a value, as the API shows it. */
export type JsonSchema = { [keyword: string]: unknown }

/** The form of the values of a selector: parsed strictly by `read`, and described for clients that draw a form. */
export type ValueForm<Value> = {
  read(value: unknown): Reading<Value>
  /** Admits the values that `read` admits, and values whose faults a schema cannot express, such as a wrong checksum or zone. */
  schema: JsonSchema
  /** The comparisons that `op` may name; none for a set or a window. */
  operators: readonly string[]
}

export type SelectorKind = Pick<ValueForm<unknown>, 'schema' | 'operators'> & {
  findFault(value: unknown): FieldFault | null
  evaluate(value: unknown, facts: Facts): Finding
}

/**
 * Creates a selector from the form of its value and its test of the facts; both are pure. The values of policies that are kept in
 * memory, which are frozen, are parsed once.
 */
export function defineSelector<Value>(
  { read, schema, operators }: ValueForm<Value>,
  find: (value: Value, facts: Facts) => Finding,
): SelectorKind {
  const readings = new WeakMap<object, Reading<Value>>()
  const readOnce = (value: unknown) => {
    if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return read(value)
    const reading = readings.get(value) ?? read(value)
    readings.set(value, reading)
    return reading
  }
  return {
    schema,
    operators,
    findFault(value) {
      const reading = read(value)
      return 'fault' in reading ? reading.fault : null
    },
    evaluate(value, facts) {
      const reading = readOnce(value)
      return 'fault' in reading ? { matched: null, observed: null } : find(reading.value, facts)
    },
  }
}

/** Creates a selector of one fact, which is its observed value. Without the fact the result is unknown. */
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

/** A comparison with a number: `{op, value}`, or `{op: "between", min, max}` with both ends included. Decimal strings. */
export type Comparison = { op: OneSided; value: string } | { op: 'between'; min: string; max: string }

export const oneSided = ['gt', 'gte', 'lt', 'lte'] as const
type OneSided = (typeof oneSided)[number]

const decimalForm = new RegExp(decimalPattern)
const decimalMessage = 'must be a decimal string such as "1000.5"'

/** An object of exactly these fields, all required. */
export function objectSchema(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

export const decimalSchema: JsonSchema = { type: 'string', pattern: decimalPattern }

/** A number against one bound, or between two. */
export const comparison: ValueForm<Comparison> = {
  read: readComparison,
  operators: [...oneSided, 'between'],
  schema: {
    anyOf: [
      objectSchema({ op: { enum: oneSided }, value: decimalSchema }),
      objectSchema({ op: { const: 'between' }, min: decimalSchema, max: decimalSchema }),
    ],
  },
}

function readComparison(value: unknown): Reading<Comparison> {
  if (!isObject(value)) return faultOf('must be {op, value} or {op: "between", min, max}')
  const { op, value: bound, min, max } = value
  if (op === 'between') {
    const stray = strayKey(value, ['op', 'min', 'max'])
    if (stray !== null) return faultOf('does not belong to {op: "between", min, max}', stray)
    if (!isDecimal(min)) return faultOf(decimalMessage, 'min')
    if (!isDecimal(max)) return faultOf(decimalMessage, 'max')
    if (compareDecimals(min, max) > 0) return faultOf('must not be above max', 'min')
    return { value: { op, min, max } }
  }
  if (!isOneSided(op)) return faultOf('must be one of gt, gte, lt, lte, between', 'op')
  const stray = strayKey(value, ['op', 'value'])
  if (stray !== null) return faultOf('does not belong to {op, value}', stray)
  return isDecimal(bound) ? { value: { op, value: bound } } : faultOf(decimalMessage, 'value')
}

export function isOneSided(op: unknown): op is OneSided {
  return (oneSided as readonly unknown[]).includes(op)
}

export function meets(comparison: Comparison, decimal: string): boolean {
  return meetsBy(comparison, decimal, (bound) => bound)
}

/** Like `meets`, with the bounds first brought into the unit of `decimal`. */
export function meetsBy(comparison: Comparison, decimal: string, inUnit: (bound: string) => string): boolean {
  if (comparison.op === 'between') {
    return (
      compareDecimals(decimal, inUnit(comparison.min)) >= 0 && compareDecimals(decimal, inUnit(comparison.max)) <= 0
    )
  }
  const order = compareDecimals(decimal, inUnit(comparison.value))
  if (comparison.op === 'gt') return order > 0
  if (comparison.op === 'gte') return order >= 0
  if (comparison.op === 'lt') return order < 0
  return order <= 0
}

/** A yes-or-no value: `true` or `false`. */
export const flag: ValueForm<boolean> = {
  read: (value) => (typeof value === 'boolean' ? { value } : faultOf('must be true or false')),
  operators: [],
  schema: { type: 'boolean' },
}

/** Returns the schema of one value of this schema, or of an array of such values, of which any may match. */
export function anyOfSchema(valueSchema: JsonSchema): JsonSchema {
  return { anyOf: [valueSchema, { type: 'array', items: valueSchema, minItems: 1, maxItems: selectorValuesMax }] }
}

/** A set: one string, or an array of strings, of which any may match. */
export const anySet: ValueForm<string[]> = {
  read: readSet,
  operators: [],
  schema: anyOfSchema({ type: 'string', minLength: 1, maxLength: selectorValueLengthMax }),
}

/** Returns true when a set names the value; null is in no set. */
export const isAmong = (named: string[], value: string | null): boolean => value !== null && named.includes(value)

/** Returns true when a set names any of the values. */
export const areAnyAmong = (named: string[], some: string[] | null): boolean =>
  named.some((value) => some?.includes(value) === true)

/** A set whose values must be among `members`. */
export function setOf(members: readonly string[]): ValueForm<string[]> {
  const read = readSetOf((text) => members.includes(text), `must be one of ${members.join(', ')}`)
  return { read, operators: [], schema: anyOfSchema({ enum: members }) }
}

function readSet(value: unknown): Reading<string[]> {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  if (values.length === 0) return faultOf('must name at least one value')
  if (values.length > selectorValuesMax) return faultOf(`must not name more than ${selectorValuesMax} values`)
  const i = values.findIndex(
    (entry) => typeof entry !== 'string' || entry === '' || entry.length > selectorValueLengthMax,
  )
  if (i < 0) return { value: values as string[] }
  const message = `must be a string of 1 to ${selectorValueLengthMax} characters`
  return Array.isArray(value) ? faultOf(message, String(i)) : faultOf(`${message}, or an array of them`)
}

/** Returns a parser of sets that checks each value. */
function readSetOf(isMember: (text: string) => boolean, message: string): (value: unknown) => Reading<string[]> {
  return (value) => {
    const reading = readSet(value)
    if ('fault' in reading) return reading
    const i = reading.value.findIndex((text) => !isMember(text))
    if (i < 0) return reading
    return faultOf(message, Array.isArray(value) ? String(i) : '')
  }
}

const evmForm = /^0x[0-9a-fA-F]{40}$/

/** A set of on-chain addresses. A mixed-case EVM address must have a valid EIP-55 checksum. */
export const onchainSet: ValueForm<string[]> = {
  ...anySet,
  read: readSetOf(
    (text) => addressKeyOf(text, 'evm') !== null || (!evmForm.test(text) && addressKeyOf(text, 'other') !== null),
    'must be an on-chain address; a mixed-case EVM address must have a valid EIP-55 checksum',
  ),
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The first key that is not expected, or null. */
export function strayKey(value: Record<string, unknown>, expected: string[]): string | null {
  return Object.keys(value).find((key) => !expected.includes(key)) ?? null
}

function isDecimal(value: unknown): value is string {
  return typeof value === 'string' && decimalForm.test(value)
}

/** Checksums require hashing, and the addresses in policies are parsed for every decision, so keys are cached. */
const keysMax = 20_000
const known = new Map<NetworkType, Map<string, string | null>>()

/** The key by which a network compares an address (see `parseOnchainAddress`); null if it is not an address of the network. */
export function addressKeyOf(text: string, type: NetworkType): string | null {
  let keys = known.get(type)
  if (keys === undefined || keys.size >= keysMax) {
    keys = new Map()
    known.set(type, keys)
  }
  let key = keys.get(text)
  if (key === undefined) {
    key = parseOnchainAddress(text, type)?.key ?? null
    keys.set(text, key)
  }
  return key
}

/**
 * The key of an address of an unknown network, or of an id that stands for one. Only EVM and Bitcoin have
 * several spellings of one address, and no text is an address of both.
 */
export function spellingKey(text: string): string {
  return addressKeyOf(text, 'evm') ?? addressKeyOf(text, 'bitcoin') ?? addressKeyOf(text, 'litecoin') ?? text
}
