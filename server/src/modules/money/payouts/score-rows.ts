import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { ByMember } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { type Score, scoreOrders } from '../screening/score-orders.ts'
import { loadRows } from './load.ts'
import type { PayoutBody } from './payload.ts'

/** The scores of the rows of a payout that is about to be ordered or previewed, as `scoreOrder` has that of an order. */
export function scoreRows(deps: Deps, body: PayoutBody, by: ByMember): Promise<readonly Score[]> {
  return scoreOrders(deps, by, async () => {
    const rows = await loadRows(deps.db, body, { scope: visibleScopeOf(by.member), now: by.now })
    return rows.map(({ order }) => order)
  })
}
