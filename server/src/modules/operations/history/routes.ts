import { addressScopeOf } from '../../../access/address-scope.ts'
import { memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { type App, route } from '../../../http/route.ts'
import { PageOf, Ref, VaultParams } from '../../../http/schema.ts'
import { pageOf, toTaggedPage } from '../../../lib/cursor.ts'
import { badRequest } from '../../../lib/errors.ts'
import { txHashKey } from '../../../lib/onchain-address.ts'
import { parseBounds } from '../../../lib/period.ts'
import { isAssignmentVisible } from '../assignments/visibility.ts'
import { type FeedFilters, feedTag, noFilters } from '../feed/feed.ts'
import { toHistoryItem } from './present.ts'
import { listHistory } from './queries.ts'
import { HistoryItem, HistoryQuery } from './schema.ts'

export function historyRoutes(app: App, deps: Deps): void {
  app.get(
    '/vaults/:code/history',
    route({
      operationId: 'listHistory',
      summary: 'Transfers and deposits in one feed, newest first',
      description:
        'The caller’s own activity; administrators see the whole vault. `status` is that of transfers, so it leaves deposits out; `awaitingMyApproval=true` shows transfers of others that wait for the caller’s vote. A page may hold fewer items than `limit`, even none, while `nextCursor` is not null: a request looks at a limited number of operations, however rare what is looked for. `nextCursor` null is the end. A cursor goes with the filters that it was made with.',
      tag: 'History',
      access: 'member',
      params: VaultParams,
      querystring: HistoryQuery,
      answers: { 200: PageOf(Ref(HistoryItem)) },
    }),
    async (request) => {
      const member = memberOf(request)
      const { query } = request
      const { userId, folderId, includeShared } = query
      const scope = addressScopeOf(member, { userId, folderId, includeShared })
      const awaits = query.awaitingMyApproval === true
      if (awaits && query.direction === 'in') throw badRequest('direction', 'cannot be in with awaitingMyApproval')
      const filters: FeedFilters = {
        ...noFilters,
        ...parseBounds(query),
        awaitingApprovalOf: awaits ? member.userId : null,
        type: query.direction === undefined ? null : query.direction === 'in' ? 'deposit' : 'transfer',
        status: query.status ?? null,
        asset: query.asset ?? null,
        tokenId: query.tokenId ?? null,
        network: query.network ?? null,
        addressId: query.addressId ?? null,
        flowType: query.flowType ?? null,
        counterpartyId: query.counterpartyId ?? null,
        counterpartyGroupId: query.counterpartyGroupId ?? null,
        counterpartyAddressId: query.counterpartyAddressId ?? null,
        category: query.category === undefined ? null : { key: query.category, isVisible: isAssignmentVisible },
        paymentPurpose: query.paymentPurpose ?? null,
        decisionPolicyId: query.decisionPolicyId ?? null,
        txHash: query.txHash === undefined ? null : txHashKey(query.txHash),
      }
      const list = feedTag('history', scope, filters)
      return toTaggedPage(await listHistory(deps.db, scope, filters, pageOf(query, list)), list, toHistoryItem)
    },
  )
}
