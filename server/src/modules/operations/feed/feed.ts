import type { AddressScope } from '../../../access/address-scope.ts'
import type { Db } from '../../../db/client.ts'
import { readInIndexOrder } from '../../../db/index-order.ts'
import { cursorTag, type Position } from '../../../lib/cursor.ts'
import {
  feedGatheredRows,
  feedGatheringsMax,
  feedMergedRangesMax,
  feedScannedRows,
  feedWindowRows,
} from '../../../lib/limits.ts'
import type { FlowType, OperationStatus, OperationType } from '../../../lib/operations.ts'
import { lookUp } from './feed-lookups.ts'
import { chooseFeedPath } from './feed-path.ts'
import { walkPath } from './feed-walk.ts'

/** The filters of a list of operations; null: not filtered. The folder is part of the scope. */
export type FeedFilters = {
  /** Only transfers of other initiators, from any address, that wait for the vote of this caller. */
  awaitingApprovalOf: string | null
  type: OperationType | null
  /** Status of transfers; it excludes deposits. */
  status: OperationStatus | null
  /** Code of a token. */
  asset: string | null
  tokenId: string | null
  /** Slug of a network. */
  network: string | null
  addressId: string | null
  flowType: FlowType | null
  counterpartyId: string | null
  /** Counterparties that are in this group now. */
  counterpartyGroupId: string | null
  counterpartyAddressId: string | null
  /** Key of a category: operations with an assignment of it that the viewer may see. */
  category: string | null
  paymentPurpose: string | null
  decisionPolicyId: string | null
  txHash: string | null
  /** Both inclusive. */
  from: Date | null
  to: Date | null
}

export const noFilters: FeedFilters = {
  awaitingApprovalOf: null,
  type: null,
  status: null,
  asset: null,
  tokenId: null,
  network: null,
  addressId: null,
  flowType: null,
  counterpartyId: null,
  counterpartyGroupId: null,
  counterpartyAddressId: null,
  category: null,
  paymentPurpose: null,
  decisionPolicyId: null,
  txHash: null,
  from: null,
  to: null,
}

export type FeedPage = { after: Position | null; limit: number }
/** `next` is the position to continue at; a page may be short, even empty, and have a next one (docs/decisions/0014-feeds.md). */
export type FeedRows<Row> = { rows: Row[]; next: Position | null }

export type FeedLimits = {
  windowRows: number
  mergedRangesMax: number
  gatheredRows: number
  gatheringsMax: number
  scannedRows: number
}
/** For every request; only tests use other values. */
const feedLimits: FeedLimits = {
  windowRows: feedWindowRows,
  mergedRangesMax: feedMergedRangesMax,
  gatheredRows: feedGatheredRows,
  gatheringsMax: feedGatheringsMax,
  scannedRows: feedScannedRows,
}

/**
 * Reads one page of the operations in scope that match the filters, newest first by (created_at, id), from one snapshot.
 * `describe` reads the rows of the given ids, in any order. A request walks at most one window of the feed.
 */
export async function readFeed<Row extends { id: string }>(
  db: Db,
  scope: AddressScope,
  filters: FeedFilters,
  page: FeedPage,
  describe: (db: Db, ids: string[]) => Promise<Row[]>,
  limits: FeedLimits = feedLimits,
): Promise<FeedRows<Row>> {
  // Only the most frequent queries have few enough texts to be worth prepared statements.
  const isPlain = scope.folderId === null && Object.values(filters).every((filter) => filter === null)
  return readInIndexOrder(db, { plansOnce: isPlain }, async (snapshot) => {
    const resolved = await lookUp(snapshot, scope, filters, limits)
    const path = chooseFeedPath(scope, resolved)
    if (path === null) return { rows: [], next: null }
    const { ids, next } = await walkPath(snapshot, { scope, filters, resolved, path, limits }, page)
    const rows = ids.length === 0 ? [] : await describe(snapshot, ids)
    return { rows: rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)), next }
  })
}

/** Ties the cursors of a list to all filters that decide its content: another query refuses them. */
export function feedTag(list: string, scope: AddressScope, filters: FeedFilters): string {
  const { vaultId, isWholeVault, ownerId, includesShared, folderId } = scope
  return cursorTag({ ...filters, list, vaultId, isWholeVault, ownerId, includesShared, folderId })
}
