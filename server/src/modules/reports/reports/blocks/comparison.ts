import type { Static } from 'typebox'
import { Closed, Enum, Nullable, Timestamp } from '../../../../http/schema.ts'
import type { Interval } from '../buckets.ts'
import { changePercent } from '../exact.ts'
import { Percent } from '../schema.ts'

export const comparisonModes = ['none', 'previous_period', 'previous_year'] as const
export type ComparisonMode = (typeof comparisonModes)[number]

export const ReportComparison = Closed(
  {
    mode: Enum(comparisonModes),
    previousFrom: Nullable(Timestamp),
    previousTo: Nullable(Timestamp),
    incomingUsdChangePercent: Nullable(Percent),
    outgoingUsdChangePercent: Nullable(Percent),
    grossTurnoverUsdChangePercent: Nullable(Percent),
    operationsCountChangePercent: Nullable(Percent),
    averageOperationUsdChangePercent: Nullable(Percent),
  },
  { $id: 'ReportComparison' },
)

/** The figures that are compared between two intervals; USD in cents, of operations that count. */
export type Compared = {
  incomingUsd: bigint
  outgoingUsd: bigint
  operationsCount: number
  /** Operations that have a USD value and count. */
  ratedCount: number
}

/** The change from an earlier interval in per cent; null when the earlier value is zero. */
export function compareIntervals(
  mode: ComparisonMode,
  current: Compared,
  previous: { interval: Interval; figures: Compared } | null,
): Static<typeof ReportComparison> {
  if (previous === null) {
    return {
      mode,
      previousFrom: null,
      previousTo: null,
      incomingUsdChangePercent: null,
      outgoingUsdChangePercent: null,
      grossTurnoverUsdChangePercent: null,
      operationsCountChangePercent: null,
      averageOperationUsdChangePercent: null,
    }
  }
  const { interval, figures } = previous
  const gross = ({ incomingUsd, outgoingUsd }: Compared) => incomingUsd + outgoingUsd
  return {
    mode,
    previousFrom: interval.from.toISOString(),
    previousTo: interval.to.toISOString(),
    incomingUsdChangePercent: changePercent(current.incomingUsd, figures.incomingUsd),
    outgoingUsdChangePercent: changePercent(current.outgoingUsd, figures.outgoingUsd),
    grossTurnoverUsdChangePercent: changePercent(gross(current), gross(figures)),
    operationsCountChangePercent: changePercent(BigInt(current.operationsCount), BigInt(figures.operationsCount)),
    // Both means over a common divisor, so that their ratio is exact before it is rounded.
    averageOperationUsdChangePercent:
      current.ratedCount === 0 || figures.ratedCount === 0
        ? null
        : changePercent(gross(current) * BigInt(figures.ratedCount), gross(figures) * BigInt(current.ratedCount)),
  }
}
