import type { Static } from 'typebox'
import { formatDecimal } from '../../../lib/money.ts'
import { type Holding, sumOfHoldings, usdOfHolding } from '../../money/ledger/holdings.ts'
import type { Interval } from '../requests/buckets.ts'
import type { TimelineRow } from './queries.ts'
import type { BalanceTimeline } from './schema.ts'

type Timeline = Static<typeof BalanceTimeline>
type Series = Timeline['tokens'][number]

/** Presents the rows, which are ordered by token, then by time. */
export function toBalanceTimeline(
  rows: TimelineRow[],
  { interval, timezone, instants }: { interval: Interval; timezone: string; instants: Date[] },
): Timeline {
  const tokens: Series[] = []
  const held = new Map<number, Holding[]>(instants.map((at) => [at.getTime(), []]))
  for (const row of rows) {
    const { token_id: id, code, symbol, decimals, at } = row
    if (tokens.at(-1)?.token.id !== id) tokens.push({ token: { id, code, symbol, decimals }, points: [] })
    const holding = { raw: BigInt(row.total), decimals, usdRate: row.usd_rate }
    held.get(at.getTime())!.push(holding)
    tokens.at(-1)!.points.push({
      at: at.toISOString(),
      total: row.total,
      totalDecimal: formatDecimal(row.total, decimals),
      usdValue: usdOfHolding(holding),
    })
  }
  return {
    from: interval.from.toISOString(),
    to: interval.to.toISOString(),
    timezone,
    tokens,
    usd: instants.map((at) => {
      const holdings = held.get(at.getTime())!
      const isComplete = holdings.every((holding) => usdOfHolding(holding) !== null)
      return { at: at.toISOString(), usdValue: isComplete ? sumOfHoldings(holdings) : null }
    }),
  }
}
