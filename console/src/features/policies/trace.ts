import type { PolicyTrace } from '@strongroom/sdk'
import { formatAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { listOf } from './selectors.ts'
import { clauseWords, flagWords, type Names, valueWords } from './words.ts'

type TraceLine = { text: string; observed: string; matched: boolean }

/** Describes the evaluated conditions of a policy. */
export function traceLines({ rules }: PolicyTrace, names: Names): TraceLine[] {
  const clauses = rules.flatMap(({ selectors }) => selectors)
  const terms = clauses
    .filter(({ selectorType }) => selectorType === 'token')
    .map(({ selectorType, expected }) => ({ negated: false, clauses: [{ selectorType, value: expected }] }))
  return rules.flatMap(({ conditionType, selectors }) =>
    selectors.map(({ selectorType, matched, expected, observed }) => {
      const negated = conditionType === 'exclude'
      return {
        text: clauseWords({ selectorType, value: expected }, negated, terms, names),
        observed: observedWords(selectorType, observed, names),
        // An exclusion fails if its selector matches.
        matched: negated ? !matched : matched,
      }
    }),
  )
}

function observedWords(selectorType: string, observed: unknown, names: Names): string {
  if (observed === null || observed === undefined) return t('not known, or not shown to you')
  if (typeof observed === 'number' || (typeof observed === 'string' && /^-?\d+(\.\d+)?$/.test(observed))) {
    return formatAmount(String(observed))
  }
  if (typeof observed === 'boolean') return flagWords(selectorType)[observed ? 'yes' : 'no']
  if (selectorType === 'time' && typeof observed === 'string') return observed
  if (listOf<unknown>(observed).length === 0) return t('none')
  const isPlain = (item: unknown) =>
    typeof item === 'string' || (typeof item === 'object' && item !== null && 'route' in item && 'variant' in item)
  if (!listOf<unknown>(observed).every(isPlain)) return JSON.stringify(observed)
  return valueWords({ selectorType, value: observed }, '', names)
}
