import { canonicalJson } from '../lib/canonical-json.ts'
import type { Difference } from '../modules/rules/rules-versions/difference.ts'
import type { Direction } from '../modules/rules/rules-versions/direction.ts'
import type { RulesDocument, RulesPolicy } from '../modules/rules/rules-versions/document-schema.ts'
import type { Person } from './rules-file.ts'

/**
 * Makes foreign text safe for a terminal or a log, where control characters could be commands and new lines could be other
 * messages.
 */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    return `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`
  })
}

const quoted = (text: string) => plain(JSON.stringify(text))

/** Returns the names of groups, members and tokens, by id. */
export function namesIn(documents: RulesDocument[], people: Person[]): ReadonlyMap<string, string> {
  return new Map([
    ...people.map(({ userId, name, email }) => [userId, email ?? name] as const),
    ...documents.flatMap(({ groups, tokens }) => [...groups, ...tokens].map(({ id, code }) => [id, code] as const)),
  ])
}

/** Returns one line for each part that differs, and below it one line for each field. */
export function differencesInWords(differences: Difference[], names: ReadonlyMap<string, string>): string[] {
  return differences.flatMap(({ kind, id, name, before, after }) => {
    // The code of a variant is unique only within its route.
    const code = kind === 'variant' ? undefined : codeOf(after ?? before)
    const title = id === null ? kind : `${kind} ${quoted(code ?? name)}`
    if (before === null) return [`+ ${title}`, ...fieldsOf(after!, names)]
    if (after === null) return [`- ${title}`]
    return [`~ ${title}`, ...changedFields(before, after, names)]
  })
}

const codeOf = (part: object | null): string | undefined => (part as { code?: string } | null)?.code

function fieldsOf(part: object, names: ReadonlyMap<string, string>): string[] {
  const isUsual = (value: unknown) =>
    value === null || value === false || (Array.isArray(value) && value.length === 0) || value === 0
  return Object.entries(part)
    .filter(([field, value]) => !['id', 'code', 'key', 'route', 'isSystem'].includes(field) && !isUsual(value))
    .map(([field, value]) => `    ${field}: ${inWords(asInFile(field, value), names)}`)
}

function changedFields(before: object, after: object, names: ReadonlyMap<string, string>): string[] {
  const earlier = before as Record<string, unknown>
  return Object.entries(after).flatMap(([field, value]) => {
    const was = earlier[field]
    if (canonicalJson(was) === canonicalJson(value)) return []
    if (field === 'members') {
      const [some, others] = [was as string[], value as string[]]
      return [
        ...others.filter((member) => !some.includes(member)).map((member) => `    + member ${inWords(member, names)}`),
        ...some.filter((member) => !others.includes(member)).map((member) => `    - member ${inWords(member, names)}`),
      ]
    }
    return [`    ${field}: ${inWords(asInFile(field, was), names)} → ${inWords(asInFile(field, value), names)}`]
  })
}

/** Returns rules and approvers in the form of the file. */
function asInFile(field: string, value: unknown): unknown {
  if (field === 'rules') {
    return (value as RulesPolicy['rules']).map(({ conditionType, selectors }) => ({
      [conditionType]: selectors.map((selector) => ({ [selector.selectorType]: selector.value })),
    }))
  }
  if (field !== 'approvers') return value
  return (value as RulesPolicy['approvers']).map(({ kind, id, threshold }) => ({
    [kind]: id,
    ...(threshold == null ? {} : { threshold }),
  }))
}

function inWords(value: unknown, names: ReadonlyMap<string, string>): string {
  if (value === null || value === undefined) return 'none'
  const named = (_: string, item: unknown) => (typeof item === 'string' ? (names.get(item) ?? item) : item)
  return plain(JSON.stringify(value, named))
}

export function directionInWords(direction: Direction): string {
  return direction === 'tightening'
    ? 'Tightening: decisions can only become stricter.'
    : 'Loosening: it may permit more than the rules do now.'
}

export type BacktestCounts = {
  evaluated: number
  same: { count: number }
  stricter: { count: number; usdValue: string }
  looser: { count: number; usdValue: string }
  undecidable: { count: number }
}

export function backtestInWords(
  { evaluated, same, stricter, looser, undecidable }: BacktestCounts,
  days: number,
): string {
  return (
    `Backtest of ${days} days, ${evaluated} decisions: ${same.count} the same, ` +
    `${stricter.count} stricter (${stricter.usdValue} USD), ${looser.count} looser (${looser.usdValue} USD), ` +
    `${undecidable.count} not decidable.`
  )
}
