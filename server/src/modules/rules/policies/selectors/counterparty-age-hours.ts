import { formatDecimal, multiplyDecimals } from '../../../../lib/money.ts'
import { oncePerFacts } from './once-per.ts'
import { defineSelector, unknownFinding } from './selector.ts'
import { meetsBy, readComparison } from './values.ts'

const hourMilliseconds = '3600000'

/**
 * Hours since the counterparty was created: `{op: "lt", value: "24"}` is a counterparty of less than a
 * day. A destination outside the address book has no age, so the result is unknown.
 */
export const counterpartyAgeHours = defineSelector(readComparison, (comparison, facts) => {
  const age = ageOf(facts)
  if (age === null) return unknownFinding
  const matched = meetsBy(comparison, age.milliseconds, (hours) => multiplyDecimals(hours, hourMilliseconds))
  return { matched, observed: age.hours }
})

const ageOf = oncePerFacts(({ now, counterparty }) => {
  if (counterparty?.createdAt === undefined) return null
  const milliseconds = BigInt(Math.max(0, now.getTime() - Date.parse(counterparty.createdAt)))
  return { milliseconds: milliseconds.toString(), hours: formatDecimal((milliseconds * 100n) / 3_600_000n, 2) }
})
