import type { Static } from 'typebox'
import { Closed, Enum } from '../../../../http/schema.ts'
import { type Activity, reportedStatuses } from '../activity.ts'
import { formatUsd } from '../exact.ts'
import { assetAmounts } from '../flows.ts'
import { AssetAmounts, Count, Usd } from '../schema.ts'

export const ActivityByStatus = Closed(
  { status: Enum(reportedStatuses), count: Count, amountsByAsset: AssetAmounts, usdValue: Usd },
  { $id: 'ActivityByStatus' },
)

/** One entry per status that occurs, in the order of a transfer's lifecycle; here every status has its own sums. */
export function breakDownByStatus({ overall, assets }: Activity): Static<typeof ActivityByStatus>[] {
  return reportedStatuses.flatMap((status) => {
    const groups = overall.filter((group) => group.status === status)
    if (groups.length === 0) return []
    const amounts = new Map<string, bigint>()
    for (const { tokenId, amount } of groups) amounts.set(tokenId, (amounts.get(tokenId) ?? 0n) + amount)
    return {
      status,
      count: groups.reduce((sum, { count }) => sum + count, 0),
      amountsByAsset: assetAmounts(amounts, assets),
      usdValue: formatUsd(groups.reduce((sum, { usd }) => sum + usd, 0n)),
    }
  })
}
