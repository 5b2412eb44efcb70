import type { Static } from 'typebox'
import { Closed, described, Enum, Nullable, Timestamp } from '../../../http/schema.ts'
import type { Interval } from '../requests/buckets.ts'
import { changePercent } from '../requests/exact.ts'
import { Percent } from '../requests/schema.ts'

export const comparisonModes = ['none', 'previous_period', 'previous_year'] as const
export type ComparisonMode = (typeof comparisonModes)[number]

const Bound = (which: string) => described(Nullable(Timestamp), `${which}, in UTC; null if \`mode\` is \`none\`.`)
const ChangeOf = (figure: string) =>
  described(Nullable(Percent), `Change of ${figure} in per cent; null over zero or without a comparison.`)

export const ReportComparison = Closed(
  {
    mode: described(Enum(comparisonModes), 'Choice of the earlier interval.'),
    previousFrom: Bound('Start of the earlier interval, included'),
    previousTo: Bound('End of the earlier interval, excluded'),
    incomingUsdChangePercent: ChangeOf('`incomingUsd`'),
    outgoingUsdChangePercent: ChangeOf('`outgoingUsd`'),
    grossTurnoverUsdChangePercent: ChangeOf('`grossTurnoverUsd`'),
    operationsCountChangePercent: ChangeOf('`operationsCount`'),
    averageOperationUsdChangePercent: ChangeOf('the mean USD value of an operation'),
  },
  { $id: 'ReportComparison', description: 'Changes against an earlier interval.' },
)

/**
 * The operations of one direction in an interval. `counted` and the fields after it cover operations that enter sums; `usd` is
 * in cents.
 */
export type Side = { operations: number; counted: number; rated: number; usd: bigint }

/** The figures that are compared between two intervals. */
export type Compared = { incoming: Side; outgoing: Side }

export const emptySide: Side = { operations: 0, counted: 0, rated: 0, usd: 0n }

/** Returns the change from an earlier interval in per cent; null when the earlier value is zero or a value is unknown. */
export function compareIntervals(
  mode: ComparisonMode,
  current: Compared,
  previous: { interval: Interval; figures: Compared } | null,
): Static<typeof ReportComparison> {
  // Without an earlier interval every change is null.
  const [now, before] = [current, previous?.figures ?? { incoming: emptySide, outgoing: emptySide }]
  const [total, totalBefore] = [addSides(now), addSides(before)]
  return {
    mode,
    previousFrom: previous?.interval.from.toISOString() ?? null,
    previousTo: previous?.interval.to.toISOString() ?? null,
    incomingUsdChangePercent: usdChange(now.incoming, before.incoming),
    outgoingUsdChangePercent: usdChange(now.outgoing, before.outgoing),
    grossTurnoverUsdChangePercent: usdChange(total, totalBefore),
    operationsCountChangePercent: changePercent(BigInt(total.operations), BigInt(totalBefore.operations)),
    // Both means have a common divisor, so that their ratio is exact before it is rounded.
    averageOperationUsdChangePercent:
      total.rated === 0 || totalBefore.rated === 0
        ? null
        : changePercent(total.usd * BigInt(totalBefore.rated), totalBefore.usd * BigInt(total.rated)),
  }
}

const addSides = ({ incoming, outgoing }: Compared): Side => ({
  operations: incoming.operations + outgoing.operations,
  counted: incoming.counted + outgoing.counted,
  rated: incoming.rated + outgoing.rated,
  usd: incoming.usd + outgoing.usd,
})

function usdChange(current: Side, previous: Side): number | null {
  return isUnknown(current) || isUnknown(previous) ? null : changePercent(current.usd, previous.usd)
}

/** A sum of only unknown values is unknown, not zero. */
const isUnknown = ({ counted, rated }: Side): boolean => counted > 0 && rated === 0
