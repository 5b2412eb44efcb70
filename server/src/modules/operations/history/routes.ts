import type { Static } from 'typebox'
import { addressScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { PageOf, Ref } from '../../../http/schema.ts'
import { pageOf, toTaggedPage } from '../../../lib/cursor.ts'
import { badRequest } from '../../../lib/errors.ts'
import { txHashKey } from '../../../lib/onchain-address.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import { parseBounds } from '../../../lib/period.ts'
import { feedTag } from '../feed/feed.ts'
import type { FeedFilters } from '../feed/feed-filters.ts'
import { noFilters } from '../feed/feed-filters.ts'
import { toHistoryItem } from './present.ts'
import { listHistory } from './queries.ts'
import { HistoryItem, HistoryQuery } from './schema.ts'

export function historyRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'History', { access: 'member', scopes: { reads: 'read' } })

  api.get('listHistory', '/vaults/:code/history', {
    summary: 'List history',
    description:
      'Transfers and deposits in one feed, newest first. Members see their own activity, administrators and auditors ' +
      'that of the whole vault. With `status` the list has transfers only, with `statuses` also deposits. ' +
      '`awaitingMyApproval=true` lists transfers of others that wait for the vote of the caller. A request reads ' +
      'a limited number of operations, so a page may hold fewer items than `limit`, even none, while `nextCursor` ' +
      'is not null; the list ends when `nextCursor` is null. A cursor is valid only with the filters of the request ' +
      'that returned it.',
    errors: ['administrator_required'],
    querystring: HistoryQuery,
    answers: { 200: PageOf(Ref(HistoryItem)) },
    handler: async (db, { member, query }) => {
      const { userId, folderId, includeShared } = query
      const scope = addressScopeOf(member, { userId, folderId, includeShared })
      const filters = filtersOf(query, member)
      const list = feedTag('history', scope, filters)
      return toTaggedPage(await listHistory(db, scope, filters, pageOf(query, list)), list, toHistoryItem)
    },
  })
}

/** Returns the statuses in sorted order, so that a cursor does not depend on their order in the request. */
function statusesOf({ status, statuses }: Static<typeof HistoryQuery>): OperationStatus[] | null {
  const lists = [status, statuses].filter((list) => list !== undefined).map((list) => list.join().split(','))
  const [first, second = first] = lists
  if (first === undefined) return null
  return [...new Set(first.filter((value) => second!.includes(value)))].sort() as OperationStatus[]
}

function filtersOf(query: Static<typeof HistoryQuery>, member: Member): FeedFilters {
  const { direction, awaitingMyApproval = false, txHash } = query
  if (awaitingMyApproval && direction === 'in') throw badRequest('direction', 'must be out with awaitingMyApproval')
  const { minimumAmount = null, maximumAmount = null } = query
  if (query.tokenId === undefined && (minimumAmount ?? maximumAmount) !== null)
    throw badRequest('tokenId', 'is required with minimumAmount and maximumAmount, which are raw amounts of a token')
  return {
    ...noFilters,
    ...parseBounds(query),
    awaitingApprovalOf: awaitingMyApproval ? member.userId : null,
    type: direction === undefined ? null : direction === 'in' ? 'deposit' : 'transfer',
    statuses: statusesOf(query),
    hasDepositsOfStatus: query.status === undefined && query.statuses !== undefined ? true : null,
    initiatorId: query.initiatorId ?? null,
    minimumAmount,
    maximumAmount,
    search: query.search ?? null,
    asset: query.asset ?? null,
    tokenId: query.tokenId ?? null,
    network: query.network ?? null,
    addressId: query.addressId ?? null,
    flowType: query.flowType ?? null,
    counterpartyId: query.counterpartyId ?? null,
    counterpartyGroupId: query.counterpartyGroupId ?? null,
    counterpartyAddressId: query.counterpartyAddressId ?? null,
    category: query.category ?? null,
    paymentPurpose: query.paymentPurpose ?? null,
    decisionPolicyId: query.decisionPolicyId ?? null,
    txHash: txHash === undefined ? null : txHashKey(txHash),
  }
}
