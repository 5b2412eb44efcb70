import type { AddressScope } from '../../../access/address-scope.ts'
import { feedGatheredRangesMax, feedMergedRangesMax } from '../../../lib/limits.ts'
import type { FeedFilters } from './feed-filters.ts'

/** The filters of a request after codes, slugs and groups were resolved; null: not filtered by it. */
export type ResolvedFilters = Omit<
  FeedFilters,
  | 'awaitingApprovalOf'
  | 'asset'
  | 'tokenId'
  | 'network'
  | 'addressId'
  | 'counterpartyId'
  | 'counterpartyGroupId'
  | 'category'
> & {
  /** Only the transfers of any initiator that may wait for the vote of the viewer. */
  awaitsVote: boolean
  tokenIds: string[] | null
  /** The addresses that match both the address filter and the folder filter. */
  addressIds: string[] | null
  /**
   * Of these, the addresses in scope that the viewer does not own. Without a filter, the shared ones; when there are more
   * than can be merged, only enough of them to show that.
   */
  visibleAddressIds: string[]
  counterpartyIds: string[] | null
  categoryIds: string[] | null
}

/** The ranges to merge, and the other conditions on their rows. */
export type FeedPath = { ranges: { feed: FeedName; keys: string[] }[]; conditions: FeedCondition[] }

/**
 * The ranges of an index in the order of the feed; all but the first ones need a key. With each the conditions that every
 * row of it meets by being in it.
 */
const settled = {
  // This index is ordered by id, without a time.
  waiting: ['type', 'status'],
  vault: ['period'],
  transfers: ['type', 'period'],
  internal: ['flowType', 'period'],
  owner: ['period'],
  initiator: ['period'],
  ordered: ['initiator', 'type', 'period'],
  address: ['address', 'period'],
  hash: ['hash', 'period'],
  counterparty: ['counterparty', 'period'],
  counterpartyAddress: ['counterpartyAddress', 'period'],
  // The index holds a hash of the value.
  purpose: ['period'],
  category: ['category', 'period'],
  policy: ['policy', 'type', 'period'],
  status: ['status', 'type', 'period'],
  token: ['token', 'period'],
} satisfies Record<string, FeedCondition[]>

export type FeedName = keyof typeof settled

/**
 * Chooses the ranges along which the feed is read: for the whole vault the one with the fewest rows, for a member only
 * their own and shared rows, so that neither the time nor the cursor of a page depends on the rows of others.
 * null: no row can match the filters.
 */
export function chooseFeedPath(scope: AddressScope, resolved: ResolvedFilters): FeedPath | null {
  if (isContradictory(resolved)) return null
  const ranges = rangesOf(scope, resolved)
    .map(([feed, keys]) => ({ feed, keys }))
    .filter(({ keys }) => keys.length > 0)
  if (ranges.length === 0) return null
  const given = conditionsOf(scope, resolved)
  const conditions = (Object.keys(given) as FeedCondition[]).filter(
    (condition) =>
      given[condition] && !ranges.every(({ feed }) => (settled[feed] as FeedCondition[]).includes(condition)),
  )
  return { ranges, conditions }
}

function isContradictory(resolved: ResolvedFilters): boolean {
  const sets = [resolved.tokenIds, resolved.addressIds, resolved.counterpartyIds, resolved.categoryIds]
  if (sets.some((set) => set?.length === 0)) return true
  if (resolved.type === 'deposit' && typeOf(resolved) === 'transfer') return true
  return resolved.awaitsVote && resolved.statuses?.includes('awaiting_approval') === false
}

/** Filters by status, vote, policy or initiator apply to transfers only. */
export function typeOf(resolved: ResolvedFilters): ResolvedFilters['type'] {
  const { type, awaitsVote, statuses, decisionPolicyId, initiatorId } = resolved
  const isAboutTransfers = awaitsVote || statuses !== null || decisionPolicyId !== null || initiatorId !== null
  return isAboutTransfers ? 'transfer' : type
}

type Range = [feed: FeedName, keys: string[]]

function rangesOf(scope: AddressScope, resolved: ResolvedFilters): Range[] {
  if (resolved.awaitsVote) return [['waiting', ['']]]
  if (resolved.txHash !== null) return [['hash', [resolved.txHash]]]
  if (scope.isWholeVault) return [rangeOfVault(resolved)]
  const people = scope.ownerId === null ? [] : [scope.ownerId]
  // With an address filter, all own rows are rows of those addresses; on other addresses, only what the viewer initiated.
  const own: Range[] = resolved.addressIds === null ? [['owner', people]] : []
  return [...own, ['initiator', people], ['address', resolved.visibleAddressIds]]
}

/** From the most to the least selective; sets too large to merge cost a lookup of each key, so they come late. */
function rangeOfVault(resolved: ResolvedFilters): Range {
  const { addressIds, counterpartyIds, tokenIds, statuses } = resolved
  const ofSet = (feed: FeedName, keys: string[] | null, keysMax: number): Range | false =>
    keys !== null && keys.length <= keysMax && [feed, keys]
  const candidates: (Range | false)[] = [
    resolved.counterpartyAddressId !== null && ['counterpartyAddress', [resolved.counterpartyAddressId]],
    ofSet('address', addressIds, 1),
    ofSet('counterparty', counterpartyIds, 1),
    resolved.paymentPurpose !== null && ['purpose', [resolved.paymentPurpose]],
    resolved.categoryIds !== null && ['category', resolved.categoryIds],
    resolved.decisionPolicyId !== null && ['policy', [resolved.decisionPolicyId]],
    statuses !== null && !statuses.includes('confirmed') && ['status', statuses],
    resolved.initiatorId !== null && ['ordered', [resolved.initiatorId]],
    ofSet('address', addressIds, feedMergedRangesMax),
    ofSet('counterparty', counterpartyIds, feedMergedRangesMax),
    resolved.flowType === 'internal' && ['internal', ['']],
    ofSet('token', tokenIds, feedMergedRangesMax),
    ofSet('address', addressIds, feedGatheredRangesMax),
    ofSet('counterparty', counterpartyIds, feedGatheredRangesMax),
    typeOf(resolved) === 'transfer' && ['transfers', ['']],
  ]
  return candidates.find((candidate) => candidate !== false) ?? ['vault', ['']]
}

/** Which conditions the request makes; the walk along the path has to check them row by row. */
function conditionsOf(scope: AddressScope, resolved: ResolvedFilters) {
  return {
    // Votes are always those of the caller, while an administrator may choose the initiator.
    person: resolved.awaitsVote && scope.viewer.readsAll && scope.ownerId !== null,
    awaiting: resolved.awaitsVote,
    type: typeOf(resolved) !== null,
    status: resolved.statuses !== null,
    flowType: resolved.flowType !== null,
    token: resolved.tokenIds !== null,
    address: resolved.addressIds !== null,
    counterparty: resolved.counterpartyIds !== null,
    counterpartyAddress: resolved.counterpartyAddressId !== null,
    category: resolved.categoryIds !== null,
    purpose: resolved.paymentPurpose !== null,
    policy: resolved.decisionPolicyId !== null,
    hash: resolved.txHash !== null,
    initiator: resolved.initiatorId !== null,
    amount: resolved.minimumAmount !== null || resolved.maximumAmount !== null,
    period: resolved.from !== null || resolved.to !== null,
    search: resolved.search !== null,
  }
}

export type FeedCondition = keyof ReturnType<typeof conditionsOf>
