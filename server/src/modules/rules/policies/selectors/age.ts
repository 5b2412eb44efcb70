import { formatDecimal, multiplyDecimals } from '../../../../lib/money.ts'

/** How long something has been there: exact in milliseconds for comparisons, and in hours for people. */
export type Age = { milliseconds: string; hours: string }

/** null when it is not known since when it is there. */
export function ageSince(since: string | null | undefined, now: Date): Age | null {
  if (since === undefined || since === null) return null
  const milliseconds = BigInt(Math.max(0, now.getTime() - Date.parse(since)))
  return { milliseconds: milliseconds.toString(), hours: formatDecimal((milliseconds * 100n) / 3_600_000n, 2) }
}

export const toMilliseconds = (hours: string): string => multiplyDecimals(hours, '3600000')
