import { formatDecimal, multiplyDecimals } from '../../../lib/money.ts'
import { defineSelector, unknownFinding } from './selector.ts'
import { meetsBy, readComparison } from './values.ts'

const hourMilliseconds = '3600000'

/**
 * Hours since the counterparty was created: `{op: "lt", value: "24"}` is a counterparty of less than a day. Nobody has no
 * age, so it cannot be told for a destination outside the address book.
 */
export const counterpartyAgeHours = defineSelector(readComparison, (comparison, { now, counterparty }) => {
  const createdAt = counterparty?.createdAt
  if (createdAt === undefined) return unknownFinding
  const age = BigInt(Math.max(0, now.getTime() - Date.parse(createdAt)))
  const matched = meetsBy(comparison, age.toString(), (hours) => multiplyDecimals(hours, hourMilliseconds))
  return { matched, observed: formatDecimal((age * 100n) / 3_600_000n, 2) }
})
