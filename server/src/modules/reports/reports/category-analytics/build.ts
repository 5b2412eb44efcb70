import type { Static } from 'typebox'
import type { Member } from '../../../../access/caller.ts'
import type { Db } from '../../../../db/client.ts'
import { notFound } from '../../../../lib/errors.ts'
import type { Activity, Asset } from '../activity.ts'
import { findAssets } from '../details.ts'
import { formatUsd } from '../exact.ts'
import { assetAmounts, compareFlows, type Flow, flowOf, flowsByKey, grossUsd } from '../flows.ts'
import { countedStatusOf } from '../operation-filter.ts'
import { type ReportRequest, readReportRequest, toHeader } from '../request.ts'
import { inSnapshot } from '../snapshot.ts'
import {
  type FieldGroup,
  type FieldRow,
  type FieldSum,
  findCategory,
  listFields,
  listGroups,
  listSums,
} from './queries.ts'
import type { CategoryAnalyticsQuery, CategoryAnalyticsReport, CategoryFieldAnalytics } from './schema.ts'

type AnalyticsRequest = ReportRequest & { categoryKey: string }

/** @throws 400 naming the parameter, 403 when a caller who is no administrator names another user */
export function readAnalyticsRequest(
  type: string,
  member: Member,
  query: Static<typeof CategoryAnalyticsQuery>,
  now: Date,
): AnalyticsRequest {
  return { ...readReportRequest(type, member, query, now), categoryKey: query.categoryKey }
}

/**
 * The values of the assignments of one category, and sums of its numbers by unit or currency.
 *
 * @throws 404 when the vault has no such category
 */
export async function buildCategoryAnalytics(
  db: Db,
  request: AnalyticsRequest,
): Promise<Static<typeof CategoryAnalyticsReport>> {
  const { filter, interval, categoryKey } = request
  return inSnapshot(db, async (trx) => {
    const category = await findCategory(trx, filter.scope.vaultId, categoryKey)
    if (category === null) throw notFound('Operation category')
    const fields = await listFields(trx, filter.scope.vaultId, category.id)
    const groups = await listGroups(trx, filter, interval, category.id)
    const sums = await listSums(trx, filter, interval, category.id)
    const assets = await findAssets(trx, [...new Set(groups.map(({ tokenId }) => tokenId))])
    const isCounted = countedStatusOf(filter)
    const ofCategory = groups.filter(({ field }) => field === null)
    return {
      report: toHeader(request),
      category,
      summary: toFigures(flowOf(ofCategory, { isCounted }), assets),
      fields: fields.map((field) => toField(field, groups, sums, { assets, isCounted })),
    }
  })
}

function toField(
  field: FieldRow,
  groups: readonly FieldGroup[],
  sums: readonly FieldSum[],
  { assets, isCounted }: Pick<Activity, 'assets' | 'isCounted'>,
): Static<typeof CategoryFieldAnalytics> {
  const ofField = groups.filter((group) => group.field === field.key)
  const shown = ofField.filter(({ isShown, isRedacted }) => isShown && !isRedacted)
  const countOf = (some: FieldGroup[]) => some.reduce((sum, { count }) => sum + count, 0)
  const keyed = shown.map((group) => ({ ...group, key: group.value }))
  return {
    ...field,
    values: [...flowsByKey(keyed, { isCounted })]
      .sort(([a, flowA], [b, flowB]) => compareFlows([a ?? '', flowA], [b ?? '', flowB]))
      .map(([value, flow]) => ({ value, ...toFigures(flow, assets) })),
    otherCount: countOf(ofField.filter(({ isShown, isRedacted }) => !isShown && !isRedacted)),
    redactedCount: countOf(ofField.filter(({ isRedacted }) => isRedacted)),
    sums: sums.filter((sum) => sum.field === field.key).map(({ field: _, ...sum }) => sum),
  }
}

function toFigures(flow: Flow, assets: ReadonlyMap<string, Asset>) {
  return {
    count: flow.count,
    incomingByAsset: assetAmounts(flow.incoming, assets),
    outgoingByAsset: assetAmounts(flow.outgoing, assets),
    usdValue: formatUsd(grossUsd(flow)),
  }
}
