import { isAssignmentVisible } from '../modules/category-assignments/visibility.ts'
import { type FeedFilters, noFilters } from '../modules/operations/feed.ts'
import type { FeedWorld } from './feed-world.ts'

/** A question to the feed, as the query parameters of a request make it. */
export type FeedQuery = { filters: FeedFilters; folderId?: string; includeShared?: boolean }

/** Every filter of the history, alone, about the rows of `seedFeedWorld`; member 1 asks. */
export function feedQueries({ idOf, operations }: FeedWorld): Record<string, FeedQuery> {
  const by = (filters: Partial<FeedFilters>): FeedQuery => ({ filters: { ...noFilters, ...filters } })
  const second = (n: number) => new Date(Date.UTC(2025, 0, 1) + Math.floor(n) * 1000)
  return {
    none: by({}),
    'direction=in': by({ type: 'deposit' }),
    'direction=out': by({ type: 'transfer' }),
    'status=awaiting_approval': by({ status: 'awaiting_approval' }),
    'status=confirmed': by({ status: 'confirmed' }),
    awaitingMyApproval: by({ awaitingApprovalOf: idOf('user', 1) }),
    asset: by({ asset: 'T3' }),
    'unknown asset': by({ asset: 'NONE' }),
    tokenId: by({ tokenId: idOf('token', 3) }),
    network: by({ network: 'network-2' }),
    addressId: by({ addressId: idOf('address', 50) }),
    folderId: { ...by({}), folderId: idOf('folder', 1) },
    'large folderId': { ...by({}), folderId: idOf('folder', 2) },
    counterpartyId: by({ counterpartyId: idOf('counterparty', 7) }),
    counterpartyGroupId: by({ counterpartyGroupId: idOf('group', 1) }),
    'large counterpartyGroupId': by({ counterpartyGroupId: idOf('group', 2) }),
    counterpartyAddressId: by({ counterpartyAddressId: idOf('counterparty', 8) }),
    'flowType=internal': by({ flowType: 'internal' }),
    'flowType=external': by({ flowType: 'external' }),
    category: by({ category: { key: 'category_1', isVisible: isAssignmentVisible } }),
    'restricted category': by({ category: { key: 'category_2', isVisible: isAssignmentVisible } }),
    paymentPurpose: by({ paymentPurpose: 'Invoice 17' }),
    decisionPolicyId: by({ decisionPolicyId: idOf('policy', 2) }),
    includeShared: { ...by({}), includeShared: true },
    txHash: by({ txHash: '0x98f13708210194c475687be6106a3b84' }),
    from: by({ from: second(operations / 2) }),
    to: by({ to: second(operations / 3) }),
  }
}

/** Both at once; where both name the same filter, the second one's value. */
export function combineQueries(one: FeedQuery, other: FeedQuery): FeedQuery {
  const given = Object.entries(other.filters).filter(([, value]) => value !== null)
  return { ...one, ...other, filters: { ...one.filters, ...Object.fromEntries(given) } }
}
