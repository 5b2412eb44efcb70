import { isSameJson } from '../../../lib/canonical-json.ts'
import { scimOperationsMax } from '../../../lib/limits.ts'
import { type Attribute, attributeOf, namedIn, withoutUrn } from './attributes.ts'
import { type Filter, fits, parseFilter } from './filter.ts'
import { assertPerson, assertShort, type Person, readSingle, readValue } from './person.ts'
import { scimFault } from './scim-fault.ts'

export type Operation = { op: 'add' | 'replace' | 'remove'; path: string | null; value: unknown }
type Target = { attribute: Attribute; filter: Filter | null; sub: Attribute | null }
type Values = Record<string, unknown>

/**
 * Reads the operations of a PATCH as directories send them: names of any case, `Replace` for `replace`.
 * @throws 400 invalidSyntax
 */
export function readOperations(body: Readonly<Record<string, unknown>>): Operation[] {
  const list = Object.entries(body).find(([name]) => name.toLowerCase() === 'operations')?.[1]
  if (!Array.isArray(list) || list.length === 0 || list.length > scimOperationsMax)
    throw scimFault('invalidSyntax', `Operations: must be a list of 1 to ${scimOperationsMax} operations`)
  return list.map(readOperation)
}

function readOperation(sent: unknown): Operation {
  if (typeof sent !== 'object' || sent === null) throw scimFault('invalidSyntax', 'Operations: must be objects')
  const { op, path = null, value } = sent as Values
  const verb = typeof op === 'string' ? op.toLowerCase() : ''
  if (verb !== 'add' && verb !== 'replace' && verb !== 'remove')
    throw scimFault('invalidSyntax', 'op: must be add, replace or remove')
  if (path !== null && typeof path !== 'string') throw scimFault('invalidPath', 'path: must be a text')
  return { op: verb, path: path === '' ? null : path, value }
}

/**
 * Returns a person after all operations; if one operation fails, it throws and `before` stays as it was. Only names of the schema
 * are written, so that a path such as `__proto__` changes nothing.
 * @throws 400
 */
export function patchPerson(before: Person, operations: readonly Operation[]): Person {
  const person: Values = structuredClone(before)
  for (const operation of operations) {
    if (operation.path === null) applyWithoutPath(person, operation)
    else apply(person, operation, operation.path)
  }
  return assertPerson(person)
}

/** Applies an operation without a path. The keys of its value are the paths, possibly with dots and filters. */
function applyWithoutPath(person: Values, { op, value }: Operation): void {
  if (op === 'remove') throw scimFault('noTarget', 'path: is required to remove')
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw scimFault('invalidValue', 'value: must be an object where there is no path')
  for (const [name, part] of Object.entries(value)) {
    // Attributes that are not stored, read-only or unknown are left out, as in a POST.
    if (typeof attributeOf(nameOf(name)) === 'string') continue
    apply(person, { op, value: part, path: name }, name)
  }
}

const nameOf = (path: string): string => /^[^.[]*/.exec(withoutUrn(path))![0]

function apply(person: Values, { op, value }: Operation, path: string): void {
  const target = targetOf(path)
  if (target === null) return
  const { attribute, filter, sub } = target
  if (attribute.multiValued === true) applyToList(person, { op, value }, target)
  else if (filter !== null) throw scimFault('invalidPath', `path: ${attribute.name} is not a list`)
  else if (sub !== null) {
    const parts = { ...((person[attribute.name] ?? {}) as Values) }
    set(parts, sub.name, op === 'remove' ? undefined : readSingle(sub, value))
    set(person, attribute.name, Object.keys(parts).length === 0 ? undefined : parts)
  } else if (op === 'remove') remove(person, attribute)
  else {
    const read = readValue(attribute, value)
    if (read === undefined) remove(person, attribute)
    else
      person[attribute.name] =
        attribute.type === 'complex' ? { ...(person[attribute.name] as Values), ...(read as Values) } : read
  }
}

function remove(person: Values, { name, required }: Attribute): void {
  if (required === true) throw scimFault('mutability', `${name}: is required`)
  delete person[name]
}

function applyToList(person: Values, { op, value }: Pick<Operation, 'op' | 'value'>, target: Target): void {
  const { attribute } = target
  const list = (person[attribute.name] ?? []) as Values[]
  const changed =
    target.filter === null && target.sub === null
      ? wholeList(attribute, list, { op, value })
      : partOfList(list, { op, value }, target)
  // Checked after each operation, because the cost of the next one grows with the list.
  assertShort(attribute, changed)
  set(person, attribute.name, changed.length === 0 ? undefined : onePrimary(list, changed))
}

function wholeList(attribute: Attribute, list: Values[], { op, value }: Pick<Operation, 'op' | 'value'>): Values[] {
  const elements = value === undefined ? [] : ((readValue(attribute, value) ?? []) as Values[])
  if (op === 'replace') return elements
  const isSame = (a: Values, b: Values) => isSameJson(a, b)
  if (op === 'add') return [...list, ...elements.filter((element) => !list.some((other) => isSame(other, element)))]
  // Without a value all elements are removed, otherwise the elements with these values.
  if (value === undefined || value === null) return []
  return list.filter((element) => !elements.some((other) => other.value === element.value))
}

function partOfList(list: Values[], { op, value }: Pick<Operation, 'op' | 'value'>, target: Target): Values[] {
  const { attribute, filter, sub } = target
  const isMatch = (element: Values) => filter === null || fits(filter, element)
  if (op === 'remove') {
    if (sub === null) return list.filter((element) => !isMatch(element))
    return list
      .map((element) => (isMatch(element) ? without(element, sub.name) : element))
      .filter((element) => Object.keys(element).length > 0)
  }
  const read = sub === null ? readSingle(attribute, value) : readSingle(sub, value)
  const parts = (sub === null ? (read ?? {}) : { [sub.name]: read }) as Values
  if (list.some(isMatch))
    return list.map((element) => (isMatch(element) ? cleaned({ ...element, ...parts }) : element)).filter(isFilled)
  // Entra ID sets the address of a type of which the list has no element yet.
  const made = cleaned({ ...namedBy(filter, attribute), ...parts })
  if (op === 'replace' && filter !== null && filter.op !== 'eq') throw scimFault('noTarget', 'path: nothing fits it')
  return isFilled(made) ? [...list, made] : list
}

/** Returns the attribute that a filter for equality sets in a new element: the type work for `type eq "work"`. */
function namedBy(filter: Filter | null, { subAttributes = [] }: Attribute): Values {
  if (filter?.op !== 'eq') return {}
  const sub = namedIn(subAttributes, filter.name)
  return sub === null ? {} : { [sub.name]: readSingle(sub, filter.value) }
}

/** Leaves at most one element primary: the element that the change made primary. */
function onePrimary(before: Values[], after: Values[]): Values[] {
  const primaries = after.filter((element) => element.primary === true)
  if (primaries.length < 2) return after
  const isOld = (element: Values) => before.some((other) => other.primary === true && isSameJson(other, element))
  const kept = primaries.findLast((element) => !isOld(element)) ?? primaries[0]
  return after.map((element) =>
    element.primary === true && element !== kept ? { ...element, primary: false } : element,
  )
}

/** Returns the target of a path; null for an attribute that is not stored. @throws 400 invalidPath, mutability */
function targetOf(path: string): Target | null {
  const found = /^([A-Za-z$][\w$-]*)(?:\[(.*)\])?(?:\.([A-Za-z$][\w$-]*))?$/s.exec(withoutUrn(path))
  if (found === null && path.toLowerCase().startsWith('urn:')) return null
  const [, name = '', condition, part] = found ?? []
  const attribute = attributeOf(name)
  if (attribute === 'ignored') return null
  if (attribute === 'readOnly') throw scimFault('mutability', `${name}: is set by this service`)
  if (found === null || attribute === 'unknown') throw scimFault('invalidPath', 'path: names no attribute of a person')
  const sub = part === undefined ? null : namedIn(attribute.subAttributes ?? [], part)
  if (part !== undefined && sub === null) throw scimFault('invalidPath', `path: ${attribute.name} has no such part`)
  return { attribute, filter: condition === undefined ? null : parseFilter(condition), sub }
}

const isFilled = (element: Values): boolean => Object.keys(element).length > 0
const cleaned = (element: Values): Values =>
  Object.fromEntries(Object.entries(element).filter(([, value]) => value !== undefined))
const without = (element: Values, name: string): Values => cleaned({ ...element, [name]: undefined })

function set(values: Values, name: string, value: unknown): void {
  if (value === undefined) delete values[name]
  else values[name] = value
}
