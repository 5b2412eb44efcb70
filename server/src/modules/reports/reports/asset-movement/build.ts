import type { Static } from 'typebox'
import type { Db } from '../../../../db/client.ts'
import { formatDecimal } from '../../../../lib/money.ts'
import { composeActivity, readFacts } from '../activity/build.ts'
import type { Asset } from '../activity.ts'
import { findAssets } from '../details.ts'
import { compareText, nameAsset } from '../flows.ts'
import type { ActivityRequest } from '../request.ts'
import { inSnapshot } from '../snapshot.ts'
import { type Balance, listBalances } from './queries.ts'
import type { AssetBalance, AssetMovementReport } from './schema.ts'

/** An activity report with opening and closing balances, all of one snapshot. */
export async function buildAssetMovement(
  db: Db,
  request: ActivityRequest,
): Promise<Static<typeof AssetMovementReport>> {
  return inSnapshot(db, async (trx) => {
    const facts = await readFacts(trx, request)
    const balances = await listBalances(trx, request.filter, request.interval)
    const assets = await findAssets(
      trx,
      balances.map(({ tokenId }) => tokenId),
    )
    return { ...composeActivity(request, facts), balances: toBalances(balances, assets) }
  })
}

/** Balances in token units, in the order of asset codes. */
function toBalances(balances: readonly Balance[], assets: ReadonlyMap<string, Asset>): Static<typeof AssetBalance>[] {
  return balances
    .map(({ tokenId, ...raw }) => {
      const asset = assets.get(tokenId)!
      const amount = (value: bigint) => formatDecimal(value, asset.decimals)
      return {
        ...nameAsset(asset),
        openingBalance: amount(raw.opening),
        incoming: amount(raw.incoming),
        outgoing: amount(raw.outgoing),
        fees: amount(raw.fees),
        adjustments: amount(raw.adjustments),
        closingBalance: amount(raw.closing),
      }
    })
    .sort((a, b) => compareText(a.assetCode, b.assetCode) || compareText(a.tokenId, b.tokenId))
}
