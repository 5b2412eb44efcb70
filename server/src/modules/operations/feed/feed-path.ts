import type { AddressScope } from '../../../access/address-scope.ts'
import { feedGatheredRangesMax, feedMergedRangesMax } from '../../../lib/limits.ts'
import type { FlowType, OperationStatus, OperationType } from '../../../lib/operations.ts'

/** The filters of a request after codes, slugs and groups were resolved; null: not filtered by it. */
export type FeedWants = {
  /** Only the transfers of any initiator that may wait for the vote of the viewer. */
  awaitsVote: boolean
  type: OperationType | null
  status: OperationStatus | null
  flowType: FlowType | null
  tokenIds: string[] | null
  /** The addresses that match both the address filter and the folder filter. */
  addressIds: string[] | null
  /**
   * Of these, the addresses in scope that the viewer does not own. Without a filter, the shared ones; when there are more
   * than can be merged, only enough of them to show that.
   */
  visibleAddressIds: string[]
  counterpartyIds: string[] | null
  counterpartyAddressId: string | null
  categoryIds: string[] | null
  paymentPurpose: string | null
  decisionPolicyId: string | null
  txHash: string | null
  from: Date | null
  to: Date | null
}

/** A range of an index in the order of the feed; all but the first ones need a key. */
export type FeedName =
  | 'waiting'
  | 'vault'
  | 'transfers'
  | 'internal'
  | 'owner'
  | 'initiator'
  | 'address'
  | 'hash'
  | 'counterparty'
  | 'counterpartyAddress'
  | 'purpose'
  | 'category'
  | 'policy'
  | 'status'
  | 'token'

/** A condition that the walk along the path has to check row by row. */
export type FeedCondition =
  | 'person'
  | 'awaiting'
  | 'type'
  | 'status'
  | 'flowType'
  | 'token'
  | 'address'
  | 'counterparty'
  | 'counterpartyAddress'
  | 'category'
  | 'purpose'
  | 'policy'
  | 'hash'
  | 'period'

/** The ranges to merge, and the other conditions on their rows. */
export type FeedPath = { ranges: { feed: FeedName; keys: string[] }[]; conditions: FeedCondition[] }

/** The conditions that every row of a range meets by being in it. */
const settled: Record<FeedName, FeedCondition[]> = {
  vault: ['period'],
  transfers: ['type', 'period'],
  internal: ['flowType', 'period'],
  owner: ['period'],
  initiator: ['period'],
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
  // This index is ordered by id, without a time.
  waiting: ['type', 'status'],
}

/**
 * Chooses the ranges along which the feed is read: for the whole vault the one with the fewest rows, for a member only
 * their own and shared rows, so that neither the time nor the cursor of a page depends on the rows of others.
 * null: no row can match the filters.
 */
export function chooseFeedPath(scope: AddressScope, wants: FeedWants): FeedPath | null {
  if (isContradictory(wants)) return null
  const ranges = rangesOf(scope, wants)
    .map(([feed, keys]) => ({ feed, keys }))
    .filter(({ keys }) => keys.length > 0)
  if (ranges.length === 0) return null
  const conditions = conditionsOf(scope, wants).filter(
    (condition) => !ranges.every(({ feed }) => settled[feed].includes(condition)),
  )
  return { ranges, conditions }
}

function isContradictory(wants: FeedWants): boolean {
  const sets = [wants.tokenIds, wants.addressIds, wants.counterpartyIds, wants.categoryIds]
  if (sets.some((set) => set?.length === 0)) return true
  if (wants.type === 'deposit' && typeOf(wants) === 'transfer') return true
  return wants.awaitsVote && wants.status !== null && wants.status !== 'awaiting_approval'
}

/** Filters by status, vote or policy apply to transfers only. */
export function typeOf({ type, awaitsVote, status, decisionPolicyId }: FeedWants): FeedWants['type'] {
  const isAboutTransfers = awaitsVote || status !== null || decisionPolicyId !== null
  return isAboutTransfers ? 'transfer' : type
}

type Range = [feed: FeedName, keys: string[]]

function rangesOf(scope: AddressScope, wants: FeedWants): Range[] {
  if (wants.awaitsVote) return [['waiting', ['']]]
  if (wants.txHash !== null) return [['hash', [wants.txHash]]]
  if (scope.isWholeVault) return [rangeOfVault(wants)]
  const people = scope.ownerId === null ? [] : [scope.ownerId]
  // With an address filter, all own rows are rows of those addresses; on other addresses, only what the viewer initiated.
  const own: Range[] = wants.addressIds === null ? [['owner', people]] : []
  return [...own, ['initiator', people], ['address', wants.visibleAddressIds]]
}

/** From the most to the least selective; sets too large to merge cost a lookup of each key, so they come late. */
function rangeOfVault(wants: FeedWants): Range {
  const { addressIds, counterpartyIds, tokenIds, status } = wants
  const ofSet = (feed: FeedName, keys: string[] | null, keysMax: number): Range | false =>
    keys !== null && keys.length <= keysMax && [feed, keys]
  const candidates: (Range | false)[] = [
    wants.counterpartyAddressId !== null && ['counterpartyAddress', [wants.counterpartyAddressId]],
    ofSet('address', addressIds, 1),
    ofSet('counterparty', counterpartyIds, 1),
    wants.paymentPurpose !== null && ['purpose', [wants.paymentPurpose]],
    wants.categoryIds !== null && ['category', wants.categoryIds],
    wants.decisionPolicyId !== null && ['policy', [wants.decisionPolicyId]],
    status !== null && status !== 'confirmed' && ['status', [status]],
    ofSet('address', addressIds, feedMergedRangesMax),
    ofSet('counterparty', counterpartyIds, feedMergedRangesMax),
    wants.flowType === 'internal' && ['internal', ['']],
    ofSet('token', tokenIds, feedMergedRangesMax),
    ofSet('address', addressIds, feedGatheredRangesMax),
    ofSet('counterparty', counterpartyIds, feedGatheredRangesMax),
    typeOf(wants) === 'transfer' && ['transfers', ['']],
  ]
  return candidates.find((candidate) => candidate !== false) ?? ['vault', ['']]
}

function conditionsOf(scope: AddressScope, wants: FeedWants): FeedCondition[] {
  const given: Record<FeedCondition, boolean> = {
    // Votes are always those of the caller, while an administrator may choose the initiator.
    person: wants.awaitsVote && scope.viewer.isAdmin && scope.ownerId !== null,
    awaiting: wants.awaitsVote,
    type: typeOf(wants) !== null,
    status: wants.status !== null,
    flowType: wants.flowType !== null,
    token: wants.tokenIds !== null,
    address: wants.addressIds !== null,
    counterparty: wants.counterpartyIds !== null,
    counterpartyAddress: wants.counterpartyAddressId !== null,
    category: wants.categoryIds !== null,
    purpose: wants.paymentPurpose !== null,
    policy: wants.decisionPolicyId !== null,
    hash: wants.txHash !== null,
    period: wants.from !== null || wants.to !== null,
  }
  return (Object.keys(given) as FeedCondition[]).filter((condition) => given[condition])
}
