import type { AddressScope } from '../../../access/address-scope.ts'
import { feedGatheredRangesMax, feedMergedRangesMax } from '../../../lib/limits.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import type { FeedFilters } from './feed-filters.ts'

/** The filters of a request after codes, slugs and groups were resolved. A null filter is not applied. */
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
  /** True to list only the transfers, of any initiator, that may wait for the vote of the viewer. */
  awaitsVote: boolean
  tokenIds: string[] | null
  /** The addresses that match both the address filter and the folder filter. */
  addressIds: string[] | null
  /**
   * With an address or folder filter, the addresses of the filter that are in scope. Without such a filter, the addresses that
   * are shared with the viewer; when they are too many to merge, only enough ids to exceed the limit.
   */
  visibleAddressIds: string[]
  counterpartyIds: string[] | null
  categoryIds: string[] | null
}

/** The ranges to merge, and the conditions that the ranges do not already meet. */
export type FeedPath = { ranges: { feed: FeedName; keys: string[] }[]; conditions: FeedCondition[] }

/**
 * The index ranges along which the feed can be read, each with the conditions that all of its rows meet. The first four
 * ranges have no key.
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
  // The deposits that the chain took back, which are the failed ones. This index is ordered by id, too.
  orphaned: ['status', 'type', 'period'],
  token: ['token', 'period'],
} satisfies Record<string, FeedCondition[]>

export type FeedName = keyof typeof settled

/**
 * Chooses the ranges along which the feed is read: for the whole vault the range with the fewest rows, for a member
 * only their own and shared rows. Neither the time nor the cursor of a page then depends on the rows of others. Returns
 * null when no row can match the filters.
 */
export function chooseFeedPath(scope: AddressScope, resolved: ResolvedFilters): FeedPath | null {
  if (isContradictory(resolved)) return null
  const ranges = rangesOf(scope, resolved)
    .map(([feed, keys]) => ({ feed, keys }))
    .filter(({ keys }) => keys.length > 0)
  if (ranges.length === 0) return null
  const required = conditionsOf(scope, resolved)
  const conditions = (Object.keys(required) as FeedCondition[]).filter(
    (condition) =>
      required[condition] && !ranges.every(({ feed }) => (settled[feed] as FeedCondition[]).includes(condition)),
  )
  return { ranges, conditions }
}

function isContradictory(resolved: ResolvedFilters): boolean {
  const { tokenIds, addressIds, counterpartyIds, categoryIds, statuses } = resolved
  const sets = [tokenIds, addressIds, counterpartyIds, categoryIds, statuses]
  if (sets.some((set) => set?.length === 0)) return true
  if (resolved.type === 'deposit' && typeOf(resolved) === 'transfer') return true
  return resolved.awaitsVote && statuses?.includes('awaiting_approval') === false
}

/** The statuses that a deposit may have: it is failed while the chain no longer has it. */
const statusesOfDeposits: OperationStatus[] = ['confirmed', 'failed']

/**
 * Returns the type of the listed operations. Filters by vote, policy or initiator apply to transfers only, and so do those by
 * status unless they select deposits, too.
 */
export function typeOf(resolved: ResolvedFilters): ResolvedFilters['type'] {
  const { type, awaitsVote, statuses, hasDepositsOfStatus, decisionPolicyId, initiatorId } = resolved
  const isStatusOfTransfers =
    statuses !== null && !(hasDepositsOfStatus && statuses.some((status) => statusesOfDeposits.includes(status)))
  const isAboutTransfers = awaitsVote || isStatusOfTransfers || decisionPolicyId !== null || initiatorId !== null
  return isAboutTransfers ? 'transfer' : type
}

type Range = [feed: FeedName, keys: string[]]

function rangesOf(scope: AddressScope, resolved: ResolvedFilters): Range[] {
  if (resolved.awaitsVote) return [['waiting', ['']]]
  if (resolved.txHash !== null) return [['hash', [resolved.txHash]]]
  if (scope.isWholeVault) return rangesOfVault(resolved)
  const people = scope.ownerId === null ? [] : [scope.ownerId]
  // With an address filter, all rows of the viewer are rows of those addresses; on other addresses, only operations
  // that the viewer initiated match.
  const ownRanges: Range[] = resolved.addressIds === null ? [['owner', people]] : []
  return [...ownRanges, ['initiator', people], ['address', resolved.visibleAddressIds]]
}

/** Returns the ranges for the whole vault: one, or that of failed transfers and that of failed deposits. */
function rangesOfVault(resolved: ResolvedFilters): Range[] {
  const range = rangeOfVault(resolved)
  const type = typeOf(resolved)
  if (range[0] !== 'status' || type === 'transfer') return [range]
  const orphaned: Range = ['orphaned', ['']]
  return type === 'deposit' ? [orphaned] : [range, orphaned]
}

/**
 * Returns the range for the whole vault. The filters are tried from the most to the least selective. Large sets cost a lookup
 * for each key, so they come late.
 */
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

/** Returns the conditions of the request. The walk along the path checks them row by row. */
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
