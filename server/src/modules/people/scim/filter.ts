import { scimFilterBytesMax, scimFilterDepthMax } from '../../../lib/limits.ts'
import { scimFault } from './scim-fault.ts'

const comparisons = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
export type Comparison = (typeof comparisons)[number]
export type Value = string | number | boolean | null

/** A filter of RFC 7644 (section 3.4.2.2). Names are in lower case. `of` is true if its filter is true of an element of the list. */
export type Filter =
  | { op: 'and' | 'or'; filters: Filter[] }
  | { op: 'not'; filter: Filter }
  | { op: 'of'; name: string; filter: Filter }
  | { op: 'pr'; name: string }
  | { op: Comparison; name: string; value: Value }

const tokens = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?![\w.]))|([A-Za-z$][\w$.:-]*))/y

/** Reads a filter. @throws 400 invalidFilter */
export function parseFilter(text: string): Filter {
  if (Buffer.byteLength(text) > scimFilterBytesMax) throw fault(`is longer than ${scimFilterBytesMax} bytes`)
  const words = split(text)
  let at = 0
  const next = (): string => words[at++] ?? ''
  const has = (word: string): boolean => (words[at] ?? '').toLowerCase() === word
  const take = (word: string): void => {
    if (next() !== word) throw fault(`lacks "${word}"`)
  }

  function chain(op: 'and' | 'or', part: (depth: number) => Filter, depth: number): Filter {
    const filters = [part(depth)]
    while (has(op)) {
      at += 1
      filters.push(part(depth))
    }
    return filters.length === 1 ? filters[0]! : { op, filters }
  }
  const or = (depth: number): Filter => chain('or', and, depth)
  const and = (depth: number): Filter => chain('and', term, depth)

  function group(open: '(' | '[', depth: number): Filter {
    if (depth >= scimFilterDepthMax) throw fault('is nested too deeply')
    take(open)
    const filter = or(depth + 1)
    take(open === '(' ? ')' : ']')
    return filter
  }

  function term(depth: number): Filter {
    if (has('(')) return group('(', depth)
    if (has('not') && words[at + 1] === '(') {
      at += 1
      return { op: 'not', filter: group('(', depth) }
    }
    const name = next().toLowerCase()
    if (!/^[a-z$]/.test(name)) throw fault('lacks the name of an attribute')
    if (has('[')) return { op: 'of', name, filter: group('[', depth) }
    const op = next().toLowerCase()
    if (op === 'pr') return { op, name }
    if (!isComparison(op)) throw fault(op === '' ? 'ends too early' : `has no operator ${JSON.stringify(op)}`)
    return { op, name, value: literalOf(next()) }
  }

  const filter = or(0)
  if (at < words.length) throw fault('goes on after its end')
  return filter
}

function split(text: string): string[] {
  const words: string[] = []
  tokens.lastIndex = 0
  const end = text.trimEnd().length
  while (tokens.lastIndex < end) {
    const begin = tokens.lastIndex
    const found = tokens.exec(text)
    if (found === null) throw fault(`cannot be read from character ${begin + 1}`)
    words.push(found[0].trim())
  }
  return words
}

function literalOf(word: string): Value {
  const literal = word.toLowerCase()
  if (literal === 'true' || literal === 'false') return literal === 'true'
  if (literal === 'null') return null
  if (/^-?\d/.test(word)) return Number(word)
  try {
    const value: unknown = JSON.parse(word)
    if (typeof value === 'string') return value
  } catch {}
  throw fault(word === '' ? 'lacks a value' : 'has a value that is not JSON')
}

const isComparison = (op: string): op is Comparison => (comparisons as readonly string[]).includes(op)
const fault = (message: string) => scimFault('invalidFilter', `filter: ${message}`)

/** Returns true if an element of a list, such as an e-mail address, matches. Texts are compared regardless of case. */
export function fits(filter: Filter, element: Readonly<Record<string, unknown>>): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((part) => fits(part, element))
    case 'or':
      return filter.filters.some((part) => fits(part, element))
    case 'not':
      return !fits(filter.filter, element)
    case 'of':
      throw fault('names a list within a list')
    case 'pr':
      return partOf(element, filter.name) !== undefined
    default:
      return compares(filter.op, partOf(element, filter.name), filter.value)
  }
}

function partOf(element: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.entries(element).find(([key]) => key.toLowerCase() === name)?.[1]
}

function compares(op: Comparison, found: unknown, value: Value): boolean {
  if (typeof found !== 'string' || typeof value !== 'string') {
    if (op === 'eq') return (found ?? null) === value
    if (op === 'ne') return (found ?? null) !== value
    return false
  }
  const [a, b] = [found.toLowerCase(), value.toLowerCase()]
  const results: Record<Comparison, boolean> = {
    eq: a === b,
    ne: a !== b,
    co: a.includes(b),
    sw: a.startsWith(b),
    ew: a.endsWith(b),
    gt: a > b,
    ge: a >= b,
    lt: a < b,
    le: a <= b,
  }
  return results[op]
}
