import type { Static } from 'typebox'
import type { Db, Trx } from '../../../db/client.ts'
import { summarizeApprovals } from '../blocks/approvals.ts'
import {
  breakDownByAsset,
  breakDownByCategory,
  breakDownByCounterparty,
  breakDownByOwnAddress,
  breakDownByOwner,
  breakDownByStatus,
  toTimeline,
} from '../blocks/breakdowns.ts'
import { type Compared, compareIntervals, emptySide } from '../blocks/comparison.ts'
import { assessDataQuality } from '../blocks/data-quality.ts'
import type { Activity, Group } from '../blocks/flows.ts'
import { observe, slowApprovalMilliseconds } from '../blocks/observations.ts'
import { summarize } from '../blocks/summary.ts'
import { listAccountDifferences } from '../requests/account-differences.ts'
import { cutInterval, previousInterval } from '../requests/buckets.ts'
import { coinIn, findDetails, findProfiles } from '../requests/details.ts'
import { countedStatusOf } from '../requests/operation-filter.ts'
import { avoiding, inSnapshot, nameFew } from '../requests/reading.ts'
import { toHeader } from '../requests/report-request.ts'
import type { ActivityRequest } from './activity-request.ts'
import { orderStatisticsOf, readFewOperations, sumFewOperations } from './few-operations.ts'
import { noticeOperations } from './notice.ts'
import type { TransactionActivityReport } from './schema.ts'
import { stepsNotToSumBy } from './side-tables.ts'
import { countOtherFaults, listOrderStatistics } from './statistics.ts'
import { compareOperations, sumManyOperations } from './sum-operations.ts'
import { type Approvals, listVotesByPolicy, summarizeVotes } from './votes.ts'

type ActivityReport = Static<typeof TransactionActivityReport>

/** Builds a report of the activity engine: the facts of one snapshot, composed by pure blocks. */
export async function buildActivity(db: Db, request: ActivityRequest): Promise<ActivityReport> {
  return inSnapshot(db, async (trx) => composeActivity(request, await readFacts(trx, request)))
}

/** Reads the facts of a report in the snapshot of `trx`. */
export async function readFacts(trx: Trx, ordered: ActivityRequest) {
  const calendar = cutInterval(ordered.filter.interval, ordered.timezone, ordered.groupBy)
  const days = calendar.days.map(({ start }) => start)
  const { request, few, groups } = await avoiding(trx, stepsNotToSumBy, async () => {
    const named = await nameFew(trx, ordered)
    const operations = await readFewOperations(trx, named.filter)
    const sums =
      operations === null
        ? await sumManyOperations(trx, named.filter, days)
        : sumFewOperations(operations, named.filter, days)
    return { request: named, few: operations, groups: sums }
  })
  const { filter } = request
  const isCounted = countedStatusOf(filter)
  const keysOf = <Key>(keyed: { key: Key | null }[]) => [
    ...new Set(keyed.flatMap(({ key }) => (key === null ? [] : [key]))),
  ]
  const tokensOf = (list: readonly Group[]) => [...new Set(list.map(({ tokenId }) => tokenId))]
  const counted = groups.overall.filter(({ status }) => isCounted(status))
  const details = await findDetails(trx, filter, {
    assets: tokensOf(groups.overall),
    counterparties: keysOf(groups.byCounterparty),
    addresses: keysOf(groups.byAddress),
  })
  const ownerOf = (addressId: string) => details.addresses.get(addressId)!.ownerId
  const byOwner = request.isBrokenDownByOwner
    ? groups.byAddress.map((group) => ({ ...group, key: ownerOf(group.key) }))
    : []
  // The votes on operations that are named by their ids must not be looked up once for each operation.
  const { approvals, faults } = await avoiding(trx, few === null ? [] : ['nestloop'], async () => ({
    approvals: await summarizeVotes(trx, filter),
    faults: await countOtherFaults(trx, filter, groups.overall),
  }))
  const noticed = await noticeOperations(trx, filter, groups, few)
  const activity: Activity = {
    calendar,
    isCounted,
    ...groups,
    byOwner,
    reclassifiedCount:
      filter.counterpartyClassification === 'historical'
        ? 0
        : groups.overall.reduce((sum, { faults }) => sum + faults.reclassified, 0),
    ...details,
    coinOf: coinIn(details.assets),
    orderStatistics:
      few === null ? await listOrderStatistics(trx, filter, tokensOf(counted)) : orderStatisticsOf(few, filter),
    owners: byOwner.length === 0 ? new Map() : await findProfiles(trx, keysOf(byOwner)),
  }
  return {
    activity,
    approvals,
    noticed: { ...noticed, approvalsByPolicy: await readSlowPolicies(trx, request, approvals) },
    otherFaults: {
      ...faults,
      ledgerReconciliationDifferences: (await listAccountDifferences(trx, filter)).length,
    },
    previous: await readPrevious(trx, request),
  }
}

/** When the longest wait is short, no policy can be slow. */
async function readSlowPolicies(trx: Trx, { filter }: ActivityRequest, { times }: Approvals) {
  const longest = times === null ? 0n : times.longest
  return longest < slowApprovalMilliseconds ? [] : listVotesByPolicy(trx, filter)
}

async function readPrevious(trx: Trx, { comparison, filter, timezone }: ActivityRequest) {
  if (comparison === 'none') return null
  const interval = previousInterval(filter.interval, timezone, comparison)
  // `operationIds` has only operations of the report's own interval.
  return { interval, figures: await compareOperations(trx, { ...filter, interval, operationIds: null }) }
}

function comparedOf({ overall, isCounted }: Activity): Compared {
  const compared = { incoming: { ...emptySide }, outgoing: { ...emptySide } }
  for (const { type, status, count, rated, usd } of overall) {
    const side = type === 'deposit' ? compared.incoming : compared.outgoing
    side.operations += count
    if (!isCounted(status)) continue
    side.counted += count
    side.rated += rated
    side.usd += usd
  }
  return compared
}

/** Composes the blocks of a report from its facts; a pure function. */
export function composeActivity(
  request: ActivityRequest,
  facts: Awaited<ReturnType<typeof readFacts>>,
): ActivityReport {
  const { activity, approvals, noticed, otherFaults, previous } = facts
  const { comparison, filter, isBrokenDownByOwner, drilldown } = request
  return {
    report: toHeader(request),
    summary: summarize(activity),
    byAsset: breakDownByAsset(activity),
    byCounterparty: breakDownByCounterparty(activity),
    byOwnAddress: breakDownByOwnAddress(activity),
    byStatus: breakDownByStatus(activity),
    byCategory: breakDownByCategory(activity),
    ...(isBrokenDownByOwner ? { byAddressOwner: breakDownByOwner(activity, filter.scope.viewer.userId) } : {}),
    timeline: toTimeline(activity),
    approvals: summarizeApprovals(approvals.counts, approvals.times),
    observations: observe(activity, noticed, drilldown),
    dataQuality: assessDataQuality(activity.overall, otherFaults),
    comparison: compareIntervals(comparison, comparedOf(activity), previous),
  }
}
