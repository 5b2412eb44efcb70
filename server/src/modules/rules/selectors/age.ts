import { formatDecimal, multiplyDecimals } from '../../../lib/money.ts'
import type { Facts } from './facts.ts'
import { comparison, defineSelector, meetsBy, oncePerFacts, type SelectorKind, unknownFinding } from './selector.ts'

/** Returns a selector of the age of an object in hours. The result is unknown when the time of creation is unknown. */
export function ageInHours(sinceOf: (facts: Facts) => string | null | undefined): SelectorKind {
  const ageOf = oncePerFacts((facts) => ageSince(sinceOf(facts), facts.now))
  return defineSelector(comparison, (bound, facts) => {
    const age = ageOf(facts)
    if (age === null) return unknownFinding
    return { matched: meetsBy(bound, age.milliseconds, toMilliseconds), observed: age.hours }
  })
}

/** Exact in milliseconds for comparisons, and in hours for people. */
function ageSince(since: string | null | undefined, now: Date): { milliseconds: string; hours: string } | null {
  if (since === undefined || since === null) return null
  const milliseconds = BigInt(Math.max(0, now.getTime() - Date.parse(since)))
  return { milliseconds: milliseconds.toString(), hours: formatDecimal((milliseconds * 100n) / 3_600_000n, 2) }
}

const toMilliseconds = (hours: string): string => multiplyDecimals(hours, '3600000')
