import { type RawBuilder, sql } from 'kysely'
import {
  type AddressScope,
  folderAddressIds,
  isAddressInScope,
  isOperationInScope,
  sharedAddressIds,
} from '../../../access/address-scope.ts'
import { type Db, prepared } from '../../../db/client.ts'
import { readInIndexOrder } from '../../../db/index-order.ts'
import { cursorTag, type Position } from '../../../lib/cursor.ts'
import {
  feedGatheredRows,
  feedGatheringsMax,
  feedMergedRangesMax,
  feedSiftedRows,
  feedWindowRows,
} from '../../../lib/limits.ts'
import {
  chooseFeedPath,
  type FeedCondition,
  type FeedName,
  type FeedPath,
  type FeedWants,
  typeOf,
} from './feed-path.ts'
import type { FlowType, OperationStatus } from './write.ts'

/** What a list of operations may be narrowed to; null: it is not. The folder is part of the scope. */
export type FeedFilters = {
  /** Only transfers of others that wait for the vote of this caller, wherever they come from. */
  awaitingApprovalOf: string | null
  type: 'transfer' | 'deposit' | null
  /** Of transfers; it leaves deposits out. */
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
  /** Operations with an assignment of the category of this key that whoever asks may see. */
  category: { key: string; isVisible: IsAssignmentVisible } | null
  paymentPurpose: string | null
  decisionPolicyId: string | null
  txHash: string | null
  /** Both inclusive. */
  from: Date | null
  to: Date | null
}

/** Modules above this one know who sees a category: aliases of an assignment, its category and its operation. */
type IsAssignmentVisible = (
  scope: AddressScope,
  assignment: string,
  category: string,
  operation: string,
) => RawBuilder<boolean>

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
/** `next` is where to go on; a page may be short, even empty, and have a next one (docs/decisions/0014-feeds.md). */
export type FeedRows<Row> = { rows: Row[]; next: Position | null }

export type FeedLimits = {
  windowRows: number
  mergedRangesMax: number
  gatheredRows: number
  gatheringsMax: number
  siftedRows: number
}
const feedLimits: FeedLimits = {
  windowRows: feedWindowRows,
  mergedRangesMax: feedMergedRangesMax,
  gatheredRows: feedGatheredRows,
  gatheringsMax: feedGatheringsMax,
  siftedRows: feedSiftedRows,
}

/**
 * Reads one page of the operations in scope that meet the filters, newest first by (created_at, id), from one snapshot.
 * `describe` reads the rows of the ids found, in any order. No request walks more than a window of the feed.
 */
export async function readFeed<Row extends { id: string }>(
  db: Db,
  scope: AddressScope,
  filters: FeedFilters,
  page: FeedPage,
  describe: (db: Db, ids: string[]) => Promise<Row[]>,
  limits: FeedLimits = feedLimits,
): Promise<FeedRows<Row>> {
  // Only what everybody asks first, again and again, has statements few enough to be planned once for all.
  const isPlain = scope.folderId === null && Object.values(filters).every((filter) => filter === null)
  return readInIndexOrder(db, { plansOnce: isPlain }, async (snapshot) => {
    const wants = await lookUp(snapshot, scope, filters, limits)
    const path = chooseFeedPath(scope, wants)
    if (path === null) return { rows: [], next: null }
    const { ids, next } = await walkPath(snapshot, { scope, filters, wants, path, limits }, page)
    const rows = ids.length === 0 ? [] : await describe(snapshot, ids)
    return { rows: rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)), next }
  })
}

/** Ties the cursors of a list to everything that decides what is in it: another query refuses them. */
export function feedTag(list: string, scope: AddressScope, filters: FeedFilters): string {
  const { vaultId, isWholeVault, ownerId, includesShared, folderId } = scope
  const category = filters.category?.key ?? null
  return cursorTag({ ...filters, list, vaultId, isWholeVault, ownerId, includesShared, folderId, category })
}

/** The ids behind codes, slugs, groups and folders, in one round trip if there are any to find. */
export async function lookUp(
  db: Db,
  scope: AddressScope,
  filters: FeedFilters,
  limits: FeedLimits = feedLimits,
): Promise<FeedWants> {
  const found = await readLookups(db, lookupsOf(scope, filters, limits))
  const single = (id: string | null) => (id === null ? null : [id])
  return {
    ...filters,
    tokenIds: found.tokens ?? single(filters.tokenId),
    addressIds: found.named ?? single(filters.addressId),
    visibleAddressIds: found.visible ?? [],
    awaitsVote: filters.awaitingApprovalOf !== null,
    counterpartyIds: found.counterparties ?? single(filters.counterpartyId),
    categoryIds: found.categories ?? null,
  }
}

type Lookups<Of> = { [name in 'tokens' | 'named' | 'visible' | 'counterparties' | 'categories']?: Of }

async function readLookups(db: Db, lookups: Lookups<RawBuilder<unknown>>): Promise<Lookups<string[]>> {
  const arrays = Object.entries(lookups).map(([name, ids]) => sql`array(${ids}) as ${sql.id(name)}`)
  if (arrays.length === 0) return {}
  // What is shared is looked up for every page of it, and always with the same words.
  const mark = Object.keys(lookups).join() === 'visible' ? prepared : sql``
  const { rows } = await sql<Lookups<string[]>>`${mark} select ${sql.join(arrays)}`.execute(db)
  return rows[0]!
}

function lookupsOf(scope: AddressScope, filters: FeedFilters, limits: FeedLimits): Lookups<RawBuilder<unknown>> {
  const { asset, network, tokenId, addressId, counterpartyId, counterpartyGroupId, category } = filters
  const only = (column: string, value: string | null) =>
    value === null ? sql`` : sql`and ${sql.ref(column)} = ${value}`
  const isNamed = addressId !== null || scope.folderId !== null
  const isOwnPath = !scope.isWholeVault && filters.awaitingApprovalOf === null && filters.txHash === null
  return {
    ...((asset !== null || network !== null) && {
      tokens: sql`select t.id from tokens t join networks n on n.id = t.network_id
        where true ${only('t.id', tokenId)} ${only('t.code', asset)} ${only('n.slug', network)}`,
    }),
    ...(scope.folderId !== null && {
      named: sql`select f.address_id from (${folderAddressIds(scope)}) f where true ${only('f.address_id', addressId)}`,
    }),
    ...(isOwnPath &&
      isNamed && {
        visible: sql`select a.id from addresses a where ${isAddressInScope(scope, 'a')} ${only('a.id', addressId)}`,
      }),
    // So many that it shows whether they are to be merged; of more than that, the gathering finds all by itself.
    ...(isOwnPath &&
      !isNamed &&
      scope.includesShared && {
        // Asked for so few, the planner would walk the grants of the whole vault in their order; the fence keeps it from that.
        visible: sql`with s as materialized (${sharedAddressIds(scope)})
          select s.address_id from s limit ${limits.mergedRangesMax + 1}`,
      }),
    ...(counterpartyGroupId !== null && {
      counterparties: sql`select g.counterparty_id from counterparty_group_memberships g
        where g.vault_id = ${scope.vaultId} and g.group_id = ${counterpartyGroupId} ${only('g.counterparty_id', counterpartyId)}`,
    }),
    ...(category !== null && {
      categories: sql`select c.id from operation_categories c where c.vault_id = ${scope.vaultId} and c.key = ${category.key}`,
    }),
  }
}

type Walk = { scope: AddressScope; filters: FeedFilters; wants: FeedWants; path: FeedPath; limits: FeedLimits }
/** The next `rowsMax` rows of the path, or of one of its ranges. */
type Window = { after: Position | null; rowsMax: number }

/** Walks window after window until the page is full, the path ends, or the request has read what one may read. */
async function walkPath(db: Db, walk: Walk, page: FeedPage): Promise<{ ids: string[]; next: Position | null }> {
  const { windowRows, gatheredRows, gatheringsMax } = walk.limits
  const gathers = walk.path.ranges.some((range) => range.feed === 'waiting' || isGathered(range, walk))
  const isFiltered = walk.path.conditions.length > 0
  const rowsMax = Math.max(page.limit + 1, !isFiltered ? 0 : gathers ? gatheredRows : windowRows)
  const read = !isFiltered ? readRows : gathers ? readGathered : readStreamed
  const found: Position[] = []
  let after = page.after
  for (let windows = isFiltered && gathers ? gatheringsMax : 1; windows > 0; windows -= 1) {
    const part = await read(db, walk, { after, rowsMax }, page.limit + 1 - found.length)
    found.push(...part.found)
    const last = found[page.limit - 1]
    if (found.length > page.limit && last !== undefined) return { ids: idsOf(found.slice(0, page.limit)), next: last }
    after = part.end
    if (after === null) break
  }
  return { ids: idsOf(found), next: after }
}

const idsOf = (positions: Position[]) => positions.map(({ id }) => id)

/** Rows of a window that meet the conditions, and its last row when it is full and more may follow. */
type Part = { found: Position[]; end: Position | null }
type PositionRow = { created_at: Date; id: string }
const toPosition = (row: PositionRow): Position => ({ createdAt: row.created_at, id: row.id })

/** Without conditions a window is a page, and one that is not full is the last. */
async function readRows(db: Db, walk: Walk, window: Window): Promise<Part> {
  const mark = hasFewForms(walk) ? prepared : sql``
  const { rows } = await sql<PositionRow>`${mark} ${windowSql(walk, window, false)} limit ${window.rowsMax}`.execute(db)
  return { found: rows.map(toPosition), end: null }
}

/** The text has one form for each feed and kind of reader, with a cursor and without, when no number of keys is in it. */
function hasFewForms(walk: Walk): boolean {
  const { filters, path } = walk
  const isBounded = filters.from !== null || filters.to !== null
  return !isBounded && path.ranges.every((range) => range.keys.length === 1 || isGathered(range, walk))
}

/** PostgreSQL stops at the last row that is wanted; only where it did not, the end of the window is looked for. */
async function readStreamed(db: Db, walk: Walk, window: Window, foundMax: number): Promise<Part> {
  const { rows } = await sql<PositionRow>`
    select w.created_at, w.id from (${windowSql(walk, window, true)} limit ${window.rowsMax}) w
    where ${checksOf(walk)} order by w.created_at desc, w.id desc limit ${foundMax}`.execute(db)
  const found = rows.map(toPosition)
  if (found.length === foundMax) return { found, end: null }
  const ends = await sql<PositionRow>`
    ${windowSql(walk, window, false)} offset ${window.rowsMax - 1} limit 1`.execute(db)
  return { found, end: ends.rows.map(toPosition)[0] ?? null }
}

/** What is gathered is read whole in any case, so its end comes along. */
async function readGathered(db: Db, walk: Walk, window: Window, foundMax: number): Promise<Part> {
  const order = sql`order by created_at desc, id desc`
  const { rows } = await sql<PositionRow & { is_end: boolean }>`
    with w as materialized (${windowSql(walk, window, true)} limit ${window.rowsMax})
    (select w.created_at, w.id, false as is_end from w where ${checksOf(walk)} ${order} limit ${foundMax})
    union all (select w.created_at, w.id, true from w ${order} offset ${window.rowsMax - 1} limit 1)
    order by is_end, created_at desc, id desc`.execute(db)
  return {
    found: rows.filter((row) => !row.is_end).map(toPosition),
    end: rows.filter((row) => row.is_end).map(toPosition)[0] ?? null,
  }
}

const checksOf = (walk: Walk) =>
  sql.join(
    walk.path.conditions.map((condition) => conditions[condition](walk)),
    sql` and `,
  )

/** The ranges of the path as one stream in its order. Two of them may hold the same row, which then comes once. */
function windowSql(walk: Walk, window: Window, isFiltered: boolean): RawBuilder<unknown> {
  const ranges = walk.path.ranges.flatMap((range) =>
    isGathered(range, walk)
      ? [gatheredSql(walk, range, window, isFiltered)]
      : range.keys.map((key) => rangeSql(walk, range.feed, sql`(select ${key}::text)`, window, isFiltered)),
  )
  const distinct = walk.path.ranges.length > 1 ? sql`distinct on (r.created_at, r.id)` : sql``
  const union = sql.join(
    ranges.map((range) => sql`(${range})`),
    sql` union all `,
  )
  return sql`select ${distinct} r.* from (${union}) r order by r.created_at desc, r.id desc`
}

const isGathered = ({ keys }: { keys: string[] }, { limits }: Walk) => keys.length > limits.mergedRangesMax

/**
 * The window of many ranges without a stream for each: the newest row of every range, then as many ranges as the window
 * has rows, those with the newest ones, and of them what is not older than the newest row of the last: no other row can
 * be in the window. All of that is done only where the newest rows of the vault, sifted, do not fill the window.
 */
function gatheredSql(
  walk: Walk,
  { feed, keys }: { feed: FeedName; keys: string[] },
  window: Window,
  isFiltered: boolean,
): RawBuilder<unknown> {
  const isOfShared = feed === 'address' && walk.wants.addressIds === null
  const all = isOfShared ? sharedAddressIds(walk.scope) : sql`select unnest(${keys}::text[])`
  const newest = rangeSql(walk, feed, sql`k.key`, { ...window, rowsMax: 1 }, false)
  const since = sql`and x.created_at >= oldest.created_at`
  const sift = walk.scope.isWholeVault || (isOfShared && !isFiltered) ? feeds[feed].sift : undefined
  const isFull = sql`(select count(*) from sifted) = ${window.rowsMax}`
  return sql`
    with keys (key) as materialized (${all}),
    sifted as materialized (${sift === undefined ? sql`select where false` : siftedSql(walk, sift, window, isFiltered)}),
    heads as materialized (
      select k.key, h.created_at from keys k cross join lateral (${newest}) h where not ${isFull}
      order by h.created_at desc, h.id desc limit ${window.rowsMax}
    ), oldest as materialized (
      select case when count(*) = ${window.rowsMax} then min(created_at) else '-infinity' end as created_at from heads
    )
    ${sift === undefined ? sql`` : sql`select s.* from sifted s where ${isFull} union all`}
    select g.* from oldest cross join heads
    cross join lateral (${rangeSql(walk, feed, sql`heads.key`, window, isFiltered, since)}) g
    order by created_at desc, id desc limit ${window.rowsMax}`
}

/**
 * The window, if the newest rows of the vault hold it: one range of some thousand rows instead of a look at each of a
 * thousand ranges. For whoever does not see the vault they are all looked through, however many are theirs. The sub-select is
 * no join, so that it is hashed.
 */
function siftedSql(walk: Walk, column: string, window: Window, isFiltered: boolean): RawBuilder<unknown> {
  const vault = rangeSql(
    walk,
    'vault',
    sql``,
    { ...window, rowsMax: walk.limits.siftedRows },
    isFiltered,
    sql``,
    column,
  )
  const whole = walk.scope.isWholeVault ? sql`` : sql`and (select count(*) from v) > 0`
  return sql`
    with v as materialized (${vault})
    select ${isFiltered ? sql`v.*` : sql`v.created_at, v.id`} from v
    where (v.${sql.ref(column)} in (select key from keys)) is true ${whole}
    order by v.created_at desc, v.id desc limit ${window.rowsMax}`
}

/** One range of an index, in its order. Where nothing has to be checked, the index alone answers. */
function rangeSql(
  walk: Walk,
  feed: FeedName,
  key: RawBuilder<unknown>,
  { after, rowsMax }: Window,
  isFiltered: boolean,
  more: RawBuilder<unknown> = sql``,
  column?: string,
): RawBuilder<unknown> {
  const { scope, filters } = walk
  const { table = 'operations', at = sql`x.created_at`, id = sql`x.id`, where, source } = feeds[feed]
  const order = feed === 'waiting' ? sql`x.waiting_id desc` : sql`${at} desc, ${id} desc`
  const { from, to } = feed === 'waiting' ? noFilters : filters
  const isOperation = table === 'operations'
  const columns = isFiltered
    ? sql`, ${checkedColumns(isOperation ? 'x' : 'o')}`
    : column === undefined
      ? sql``
      : sql`, ${sql.ref(`x.${column}`)}`
  const operation =
    isFiltered && !isOperation ? sql`join operations o on o.vault_id = x.vault_id and o.id = ${id}` : sql``
  return sql`
    select ${at} as created_at, ${id} as id ${columns} from ${source?.(walk, after) ?? sql.table(table)} x ${operation}
    where x.vault_id = ${scope.vaultId} and ${where(key, scope)} ${more}
      ${after === null ? sql`` : sql`and (${at}, ${id}) < (${after.createdAt}, ${after.id})`}
      ${from === null ? sql`` : sql`and ${at} >= ${from}`}
      ${to === null ? sql`` : sql`and ${at} <= ${to}`}
    order by ${order} limit ${rowsMax}`
}

type Feed = {
  /** `operations` unless said otherwise; other tables have its id and time. */
  table?: string
  source?(walk: Walk, after: Position | null): RawBuilder<unknown>
  /** The position in the feed, as the index of the range has it. */
  at?: RawBuilder<unknown>
  id?: RawBuilder<unknown>
  where(key: RawBuilder<unknown>, scope: AddressScope): RawBuilder<unknown>
  /** The column of its key, where rows of many keys may be picked from the newest of the vault. */
  sift?: string
}

/** Each is one index: db/migrations/0004-ledger.sql and 0013-feeds.sql. */
const feeds: Record<FeedName, Feed> = {
  // Whoever votes on much has much to vote on. Ids sort by creation (lib/ids.ts), so the ids of the subjects of votes are
  // in the order of the feed; the fence keeps the planner from beginning with the operations.
  waiting: {
    source: ({ scope, filters }, after) => sql`(
      select e.subject_id as waiting_id, o.* from (
        select distinct e.subject_id from approval_eligibilities e
        where e.vault_id = ${scope.vaultId} and e.user_id = ${filters.awaitingApprovalOf} and e.held is null
          ${after === null ? sql`` : sql`and e.subject_id < ${after.id}`}
        order by e.subject_id desc
      ) e cross join lateral (
        select * from operations o where o.vault_id = ${scope.vaultId} and o.id = e.subject_id offset 0
      ) o)`,
    where: () => sql`true`,
  },
  vault: { where: () => sql`true` },
  transfers: { where: () => sql`x.type = 'transfer'` },
  internal: { where: () => sql`x.flow_type = 'internal'` },
  owner: { where: (key) => isExactly('x.owner_id', key) },
  initiator: { where: (key) => sql`x.initiator_id <> x.owner_id and ${isExactly('x.initiator_id', key)}` },
  address: { where: (key) => isExactly('x.address_id', key), sift: 'address_id' },
  // A handful of rows at most, so a person's are picked from them before any window is cut.
  hash: {
    where: (key, scope) =>
      sql`${isExactly('x.tx_hash', key)} and ${scope.isWholeVault ? sql`true` : isOperationInScope(scope, 'x')}`,
  },
  counterparty: { where: (key) => isExactly('x.counterparty_id', key), sift: 'counterparty_id' },
  counterpartyAddress: { where: (key) => isExactly('x.counterparty_address_id', key) },
  purpose: {
    where: (key) => sql`x.payment_purpose is not null
      and hashtextextended(x.payment_purpose, 0) = (select hashtextextended(${key}, 0))`,
  },
  category: {
    table: 'category_assignments',
    at: sql`x.operation_created_at`,
    id: sql`x.operation_id`,
    where: (key) => isExactly('x.category_id', key),
  },
  policy: { table: 'transfers', where: (key) => isExactly('x.decision_policy_id', key) },
  status: {
    where: (key) => sql`x.type = 'transfer' and x.status <> 'confirmed' and ${isExactly('x.status', key)}`,
  },
  token: { where: (key) => isExactly('x.token_id', key) },
}

/**
 * Three times the same, for the planner: for it every condition makes the range smaller and a walk along another index,
 * past the rows of others, longer. PostgreSQL drops what the first one implies.
 */
function isExactly(column: string, key: RawBuilder<unknown>): RawBuilder<unknown> {
  const ref = sql.ref(column)
  return sql`${ref} = ${key} and ${ref} >= ${key} and ${ref} <= ${key}`
}

const checkedColumns = (alias: string) =>
  sql.join(
    ['vault_id', 'type', 'status', 'address_id', 'owner_id', 'initiator_id', 'token_id', 'flow_type', 'tx_hash']
      .concat('counterparty_id', 'counterparty_address_id', 'payment_purpose')
      .map((column) => sql.ref(`${alias}.${column}`)),
  )

/** What the walk checks row by row; `w` is the row. */
const conditions: Record<FeedCondition, (walk: Walk) => RawBuilder<unknown>> = {
  person: ({ scope }) => sql`${scope.ownerId} in (w.owner_id, w.initiator_id)`,
  // The snapshot still names people who have left the group that put them there.
  awaiting: ({ filters }) => sql`w.status = 'awaiting_approval' and w.initiator_id <> ${filters.awaitingApprovalOf}
    and exists (select from approval_voters v
      where v.vault_id = w.vault_id and v.subject_id = w.id and v.user_id = ${filters.awaitingApprovalOf}
        and v.decision is null)
    and exists (select from entitled_voters e
      where e.vault_id = w.vault_id and e.subject_id = w.id and e.user_id = ${filters.awaitingApprovalOf})`,
  type: ({ wants }) => sql`w.type = ${typeOf(wants)}`,
  status: ({ wants }) => sql`w.status = ${wants.status}`,
  flowType: ({ wants }) => sql`w.flow_type = ${wants.flowType}`,
  token: ({ wants }) => sql`w.token_id = any(${wants.tokenIds}::text[])`,
  address: ({ wants }) => sql`w.address_id = any(${wants.addressIds}::text[])`,
  counterparty: ({ wants }) => sql`w.counterparty_id = any(${wants.counterpartyIds}::text[])`,
  counterpartyAddress: ({ wants }) => sql`w.counterparty_address_id = ${wants.counterpartyAddressId}`,
  category: ({ scope, filters, wants }) => sql`exists (
    select from category_assignments a
    join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id
    where a.vault_id = w.vault_id and a.operation_id = w.id and a.category_id = any(${wants.categoryIds}::text[])
      and ${filters.category?.isVisible(scope, 'a', 'c', 'w') ?? sql`false`})`,
  purpose: ({ wants }) => sql`w.payment_purpose = ${wants.paymentPurpose}`,
  policy: ({ wants }) => sql`exists (
    select from transfers t
    where t.vault_id = w.vault_id and t.id = w.id and t.decision_policy_id = ${wants.decisionPolicyId})`,
  hash: ({ wants }) => sql`w.tx_hash = ${wants.txHash}`,
  period: ({ wants }) => sql`w.created_at >= coalesce(${wants.from}::timestamptz, '-infinity')
    and w.created_at <= coalesce(${wants.to}::timestamptz, 'infinity')`,
}
