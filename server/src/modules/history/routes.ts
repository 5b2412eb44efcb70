import { addressScopeOf } from '../../access/address-scope.ts'
import { memberOf } from '../../access/caller.ts'
import type { Deps } from '../../deps.ts'
import { type App, route } from '../../http/route.ts'
import { PageOf, Ref, VaultParams } from '../../http/schema.ts'
import { pageOf, toPage } from '../../lib/cursor.ts'
import { badRequest } from '../../lib/errors.ts'
import { txHashKey } from '../../lib/onchain-address.ts'
import { parseBounds } from '../../lib/period.ts'
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
        'The caller’s own activity; administrators see the whole vault. `status` is that of transfers, so it leaves deposits out; `awaitingMyApproval=true` shows transfers of others that wait for the caller’s vote.',
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
      const filter = {
        ...pageOf(query),
        ...parseBounds(query),
        awaitingApprovalOf: awaits ? member.userId : null,
        direction: query.direction ?? null,
        status: query.status ?? null,
        asset: query.asset ?? null,
        tokenId: query.tokenId ?? null,
        network: query.network ?? null,
        addressId: query.addressId ?? null,
        flowType: query.flowType ?? null,
        counterpartyId: query.counterpartyId ?? null,
        counterpartyGroupId: query.counterpartyGroupId ?? null,
        counterpartyAddressId: query.counterpartyAddressId ?? null,
        decisionPolicyId: query.decisionPolicyId ?? null,
        txHash: query.txHash === undefined ? null : txHashKey(query.txHash),
      }
      const rows = await listHistory(deps.db, scope, filter)
      return toPage(rows, filter.limit, (row) => ({ createdAt: row.created_at, id: row.id }), toHistoryItem)
    },
  )
}
