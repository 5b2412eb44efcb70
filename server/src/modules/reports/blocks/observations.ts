import { type Static, Type } from 'typebox'
import { Closed, described, Enum, Nullable } from '../../../http/schema.ts'
import { historyBounds } from '../requests/buckets.ts'
import type { Asset } from '../requests/details.ts'
import { centsOf, changePercent, divideHalfEven, formatUsd, secondsOf, sharePercent } from '../requests/exact.ts'
import { Figure, Percent, saidAs, Text } from '../requests/schema.ts'
import type { ApprovalTimes } from './approvals.ts'
import { type Activity, flowOf, flowsByKey, grossUsd } from './flows.ts'

/** The title and the figure of every type of observation. */
const kinds = {
  VOLUME_SPIKE: { title: 'Turnover far above the rest', metric: 'grossTurnoverUsd' },
  LARGE_OPERATION: { title: 'Operation far above the mean', metric: 'usdValue' },
  NEW_COUNTERPARTY: { title: 'First operations with a counterparty', metric: 'operationsCount' },
  COUNTERPARTY_CONCENTRATION: {
    title: 'Turnover depends on one counterparty',
    metric: 'shareOfGrossTurnoverUsdPercent',
  },
  HIGH_FAILURE_RATE: { title: 'Many transfers fail', metric: 'failedTransfersPercent' },
  DORMANT_ADDRESS_ACTIVE: { title: 'A dormant address is active again', metric: 'operationsCount' },
  SLOW_APPROVALS: { title: 'Approvals take long', metric: 'medianApprovalSeconds' },
  MISSING_RATES: { title: 'Operations without a USD rate', metric: 'operationsWithoutUsdRate' },
}
const codes = Object.keys(kinds) as (keyof typeof kinds)[]

export const ReportObservation = Closed(
  {
    code: described(Enum(codes), 'Type of the observation.'),
    severity: described(Enum(['info', 'warning', 'critical']), 'Severity of the observation.'),
    title: described(Text('Turnover far above the rest'), 'Title of the type.'),
    description: saidAs(
      'sentence',
      described(
        Text('In the period from 2026-01-05T00:00:00.000Z the turnover was at least 3 times the mean.'),
        'The observation in a sentence, with its figures.',
      ),
    ),
    /** The name implies the unit of `currentValue` and `comparisonValue`. */
    metric: saidAs('code', described(Text('grossTurnoverUsd'), 'Name of the observed figure.')),
    currentValue: described(
      Type.Union([Figure('90000.00'), Type.Number()]),
      'Value of the figure in the interval: a decimal string for USD; a number for a count, a percentage or seconds.',
    ),
    comparisonValue: described(
      Type.Union([Figure('12000.00'), Type.Number(), Type.Null()]),
      'Value with which `currentValue` is compared, of the same type; null if it is compared with no value.',
    ),
    changePercent: described(
      Nullable(Percent),
      'Change against `comparisonValue`, in per cent; null if `comparisonValue` is null or 0.',
    ),
    drilldownFilters: Type.Record(Type.String(), Type.String(), {
      description: 'Query parameters of the history that list the affected operations.',
      examples: [{ from: '2026-01-05T00:00:00.000Z', to: '2026-01-05T23:59:59.999Z' }],
    }),
  },
  { $id: 'ReportObservation' },
)

/** The thresholds of observations, explained in docs/reports.md. USD are whole dollars. */
export const thresholds = {
  spikeFactor: 3n,
  spikeUsdMin: 1_000n,
  spikeBucketsMin: 4,
  spikesMax: 3,
  largeFactor: 5n,
  largeUsdMin: 10_000n,
  largeOperationsMax: 10,
  newCounterpartiesMax: 20,
  concentrationPercentMin: 50,
  concentrationUsdMin: 1_000n,
  concentrationCounterpartiesMin: 2,
  failurePercentMin: 10,
  failurePercentCritical: 25,
  failureTransfersMin: 10,
  dormantDaysMin: 90,
  dormantAddressesMax: 20,
  slowApprovalHoursMin: 24,
  slowApprovalHoursCritical: 48,
} as const

/** The threshold above which a median wait is slow. */
export const slowApprovalMilliseconds = BigInt(thresholds.slowApprovalHoursMin * 3_600_000)

export type Observation = Static<typeof ReportObservation>
/** The fields that differ between observations of one kind. */
type Found = Omit<Observation, 'title' | 'metric' | 'changePercent'> & { changePercent?: number | null }

export type LargeOperation = {
  id: string
  type: 'transfer' | 'deposit'
  addressId: string
  tokenId: string
  txHash: string | null
  createdAt: Date
  usdValue: string
}
export type NewCounterparty = { id: string; name: string; count: number }
export type AwakenedAddress = { id: string; lastBefore: Date; firstWithin: Date; count: number }
type SlowPolicy = { policyId: string; policyCode: string; times: ApprovalTimes }
export type RatelessToken = { tokenId: string; missing: number; operations: number; firstAt: Date; lastAt: Date }

export type Noticed = {
  largeOperations: LargeOperation[]
  newCounterparties: NewCounterparty[]
  awakenedAddresses: AwakenedAddress[]
  approvalsByPolicy: SlowPolicy[]
  ratelessTokens: RatelessToken[]
}

type Filters = Record<string, string>

/** Returns the observations of a report; `filters` are the history query that lists all operations of the report. */
export function observe(activity: Activity, noticed: Noticed, filters: Filters): Observation[] {
  const found: Found[] = [
    ...volumeSpikes(activity, filters),
    ...noticed.largeOperations.map((operation) => largeOperation(operation, activity, filters)),
    ...noticed.newCounterparties.map((counterparty) => newCounterparty(counterparty, filters)),
    ...concentration(activity, filters),
    ...failures(activity, filters),
    ...noticed.awakenedAddresses.map((address) => awakenedAddress(address, activity, filters)),
    ...noticed.approvalsByPolicy.flatMap((policy) => slowApprovals(policy, filters)),
    ...noticed.ratelessTokens.map((token) => missingRates(token, activity.assets, filters)),
  ]
  return found.map(({ code, severity, ...rest }) => ({ code, severity, ...kinds[code], changePercent: null, ...rest }))
}

const dollars = (amount: bigint) => amount * 100n

function volumeSpikes(activity: Activity, filters: Filters): Found[] {
  const { buckets, bucketOfDay } = activity.calendar
  if (buckets.length < thresholds.spikeBucketsMin) return []
  const others = BigInt(buckets.length - 1)
  const total = grossUsd(flowOf(activity.byDay, activity))
  const keyed = activity.byDay.map((group) => ({ ...group, key: bucketOfDay[group.key]! }))
  return [...flowsByKey(keyed, activity)]
    .map(([bucket, flow]) => ({ bucket, usd: grossUsd(flow) }))
    .filter(
      ({ usd }) => usd >= dollars(thresholds.spikeUsdMin) && usd * others >= thresholds.spikeFactor * (total - usd),
    )
    .sort((a, b) => (a.usd === b.usd ? a.bucket - b.bucket : a.usd > b.usd ? -1 : 1))
    .slice(0, thresholds.spikesMax)
    .map(({ bucket, usd }) => {
      const { start, end } = buckets[bucket]!
      const mean = divideHalfEven(total - usd, others)
      return {
        code: 'VOLUME_SPIKE',
        severity: 'warning',
        description:
          `In the period from ${start.toISOString()} the turnover was at least ` +
          `${thresholds.spikeFactor} times the mean of the other periods.`,
        currentValue: formatUsd(usd),
        comparisonValue: formatUsd(mean),
        changePercent: changePercent(usd, mean),
        drilldownFilters: { ...filters, ...historyBounds({ from: start, to: end }) },
      }
    })
}

/** Returns true if the value is large, given the mean of the other operations. */
export function isLargeUsd(cents: bigint, total: bigint, ratedCount: number): boolean {
  return (
    cents >= dollars(thresholds.largeUsdMin) &&
    ratedCount > 1 &&
    cents * BigInt(ratedCount - 1) >= thresholds.largeFactor * (total - cents)
  )
}

function largeOperation(operation: LargeOperation, activity: Activity, filters: Filters): Found {
  const flow = flowOf(activity.overall, activity)
  const usd = centsOf(operation.usdValue)
  const mean = divideHalfEven(grossUsd(flow) - usd, BigInt(flow.ratedCount - 1))
  const at = operation.createdAt.toISOString()
  return {
    code: 'LARGE_OPERATION',
    severity: 'info',
    description:
      `The ${operation.type} ${operation.id} is worth at least ` +
      `${thresholds.largeFactor} times the mean of the other operations.`,
    currentValue: formatUsd(usd),
    comparisonValue: formatUsd(mean),
    changePercent: changePercent(usd, mean),
    drilldownFilters: {
      ...filters,
      addressId: operation.addressId,
      tokenId: operation.tokenId,
      direction: operation.type === 'deposit' ? 'in' : 'out',
      ...(operation.txHash === null ? {} : { txHash: operation.txHash }),
      from: at,
      to: at,
    },
  }
}

function newCounterparty({ id, name, count }: NewCounterparty, filters: Filters): Found {
  return {
    code: 'NEW_COUNTERPARTY',
    severity: 'info',
    description: `There was no operation with ${name} before this interval.`,
    currentValue: count,
    comparisonValue: 0,
    drilldownFilters: { ...filters, counterpartyId: id },
  }
}

/** Returns the shares of the whole turnover, by the classification of the report; the description names the unknown part. */
function concentration(activity: Activity, filters: Filters): Found[] {
  const flows = flowsByKey(activity.byCounterparty, activity)
  const unknown = flows.get(null)
  flows.delete(null)
  const total = grossUsd(flowOf(activity.overall, activity))
  if (flows.size < thresholds.concentrationCounterpartiesMin || total < dollars(thresholds.concentrationUsdMin))
    return []
  const unknownShare = unknown === undefined ? null : sharePercent(grossUsd(unknown), total)
  return [...flows].flatMap(([id, flow]): Found[] => {
    const share = sharePercent(grossUsd(flow), total)
    if (id === null || share === null || share < thresholds.concentrationPercentMin) return []
    const name = activity.counterparties.get(id)?.name ?? id
    const sentences = [
      `${name} has at least ${thresholds.concentrationPercentMin} per cent of the turnover.`,
      ...(unknownShare === null ? [] : [`${unknownShare} per cent of it has no known counterparty.`]),
      ...(activity.reclassifiedCount === 0 ? [] : [reclassified(activity.reclassifiedCount)]),
    ]
    return [
      {
        code: 'COUNTERPARTY_CONCENTRATION',
        severity: 'warning',
        description: sentences.join(' '),
        currentValue: share,
        comparisonValue: thresholds.concentrationPercentMin,
        drilldownFilters: { ...filters, counterpartyId: id },
      },
    ]
  })
}

/** The history uses the recorded counterparty, so a drill-down may lack these operations or list further operations. */
const reclassified = (count: number) =>
  `${count} operation${count === 1 ? ' has' : 's have'} another counterparty now than when created; the history lists ` +
  `${count === 1 ? 'it' : 'them'} under the recorded counterparty.`

function failures({ overall }: Activity, filters: Filters): Found[] {
  const countOf = (wanted: string) =>
    overall
      .filter(({ type, status }) => type === 'transfer' && status === wanted)
      .reduce((sum, { count }) => sum + count, 0)
  const failed = countOf('failed')
  const finished = failed + countOf('confirmed')
  const percent = sharePercent(BigInt(failed), BigInt(finished))
  if (percent === null || finished < thresholds.failureTransfersMin || percent < thresholds.failurePercentMin) return []
  return [
    {
      code: 'HIGH_FAILURE_RATE',
      severity: percent >= thresholds.failurePercentCritical ? 'critical' : 'warning',
      description: `${failed} of ${finished} transfers that left for the chain failed.`,
      currentValue: percent,
      comparisonValue: thresholds.failurePercentMin,
      drilldownFilters: { ...filters, statuses: 'failed' },
    },
  ]
}

function awakenedAddress(
  { id, lastBefore, firstWithin, count }: AwakenedAddress,
  { addresses }: Activity,
  filters: Filters,
): Found {
  const name = addresses.get(id)?.label ?? addresses.get(id)?.address ?? id
  const days = Math.floor((firstWithin.getTime() - lastBefore.getTime()) / 86_400_000)
  return {
    code: 'DORMANT_ADDRESS_ACTIVE',
    severity: 'warning',
    description: `Nothing happened on ${name} for ${days} days until ${firstWithin.toISOString()}.`,
    currentValue: count,
    comparisonValue: 0,
    drilldownFilters: { ...filters, addressId: id },
  }
}

function slowApprovals({ policyId, policyCode, times }: SlowPolicy, filters: Filters): Found[] {
  const median = secondsOf(times.lower + times.upper) / 2
  const hours = median / 3600
  if (hours < thresholds.slowApprovalHoursMin) return []
  return [
    {
      code: 'SLOW_APPROVALS',
      severity: hours >= thresholds.slowApprovalHoursCritical ? 'critical' : 'warning',
      description: `Half of the transfers that ${policyCode} decided and that were approved waited at least ${Math.floor(hours)} hours.`,
      currentValue: median,
      comparisonValue: thresholds.slowApprovalHoursMin * 3600,
      drilldownFilters: { ...filters, decisionPolicyId: policyId },
    },
  ]
}

function missingRates(
  { tokenId, missing, operations, firstAt, lastAt }: RatelessToken,
  assets: ReadonlyMap<string, Asset>,
  filters: Filters,
): Found {
  return {
    code: 'MISSING_RATES',
    severity: 'warning',
    description:
      `From ${firstAt.toISOString()} to ${lastAt.toISOString()}, ${missing} of ${operations} operations in ` +
      `${assets.get(tokenId)!.assetCode} had no rate and are missing from USD sums.`,
    currentValue: missing,
    comparisonValue: operations,
    drilldownFilters: { ...filters, tokenId, from: firstAt.toISOString(), to: lastAt.toISOString() },
  }
}
