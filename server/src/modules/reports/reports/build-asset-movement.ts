import type { Db } from '../../../db/client.ts'
import { listBalances, toBalances } from './asset-balances.ts'
import { composeActivity, readFacts } from './build-activity.ts'
import { findAssets } from './queries.ts'
import type { ActivityRequest } from './request.ts'
import { inSnapshot } from './snapshot.ts'

/** An activity report with opening and closing balances, all of one snapshot. */
export async function buildAssetMovement(db: Db, request: ActivityRequest) {
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
