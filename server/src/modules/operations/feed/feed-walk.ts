import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, isOperationInScope, sharedAddressIds } from '../../../access/address-scope.ts'
import { type Db, prepared } from '../../../db/client.ts'
import type { Paging, Position } from '../../../lib/cursor.ts'
import { containsPattern } from '../../../lib/like.ts'
import { feedSearchedRows, searchedPartMin } from '../../../lib/limits.ts'
import { hasCategoryRight } from '../categories/rights.ts'
import type { FeedFilters, FeedLimits } from './feed-filters.ts'
import { type FeedCondition, type FeedName, type FeedPath, type ResolvedFilters, typeOf } from './feed-path.ts'
import { operationsOfHash } from './queries.ts'

type Walk = {
  scope: AddressScope
  filters: FeedFilters
  resolved: ResolvedFilters
  path: FeedPath
  limits: FeedLimits
}
/** The next `rowsMax` rows of the path or of one range. */
export type Window = { after: Position | null; rowsMax: number }

/** Walks window after window until the page is full, the path ends, or the request has read its maximum. */
export async function walkPath(db: Db, walk: Walk, page: Paging): Promise<{ ids: string[]; next: Position | null }> {
  const { windowRows, gatheredRows, gatheringsMax } = walk.limits
  const gathers = walk.path.ranges.some((range) => range.feed === 'waiting' || isGathered(range, walk))
  const isFiltered = walk.path.conditions.length > 0
  // A search may read the other table for each row.
  const streamedRows = walk.path.conditions.includes('search') ? Math.min(windowRows, feedSearchedRows) : windowRows
  const rowsMax = Math.max(page.limit + 1, !isFiltered ? 0 : gathers ? gatheredRows : streamedRows)
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

/** The rows of a window that meet the conditions, and its last row when it is full and more may follow. */
type Part = { found: Position[]; end: Position | null }
type PositionRow = { created_at: Date; id: string }
const toPosition = (row: PositionRow): Position => ({ createdAt: row.created_at, id: row.id })

/** Reads a page. Without conditions a window is a page, and an incomplete window is the last one. */
async function readRows(db: Db, walk: Walk, window: Window): Promise<Part> {
  const mark = hasFewForms(walk) ? prepared : sql``
  const { rows } = await sql<PositionRow>`${mark} ${windowSql(walk, window, false)} limit ${window.rowsMax}`.execute(db)
  return { found: rows.map(toPosition), end: null }
}

/**
 * Returns true if the statement has few forms. Its text contains no number of keys, so that each feed has one prepared
 * statement per type of viewer, with and without a cursor.
 */
function hasFewForms(walk: Walk): boolean {
  const { filters, path } = walk
  const isBounded = filters.from !== null || filters.to !== null
  return !isBounded && path.ranges.every((range) => range.keys.length === 1 || isGathered(range, walk))
}

/**
 * Reads a stream of rows. PostgreSQL stops at the last row of the page. The end of the window is computed only when the
 * page is not full.
 */
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

/** Reads gathered rows. They are read completely in any case, so the statement also returns the end of the window. */
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

/** SQL: returns the ranges of the path as one stream in its order. A row that is in two ranges is returned once. */
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
 * SQL: returns the window of many ranges without a stream for each range. It reads the newest row of every range and
 * keeps the ranges with the newest rows, as many as the window has rows. From these it reads every row that is at least
 * as new as the newest row of the last kept range: no other row can be in the window. This runs only when the newest
 * rows of the vault do not fill the window.
 */
function gatheredSql(
  walk: Walk,
  { feed, keys }: { feed: FeedName; keys: string[] },
  window: Window,
  isFiltered: boolean,
): RawBuilder<unknown> {
  const isOfShared = feed === 'address' && walk.resolved.addressIds === null
  const allKeys = isOfShared ? sharedAddressIds(walk.scope) : sql`select unnest(${keys}::text[])`
  const newest = rangeSql(walk, feed, sql`k.key`, { ...window, rowsMax: 1 }, false)
  const since = sql`and x.created_at >= oldest.created_at`
  const scanNewest = walk.scope.isWholeVault || (isOfShared && !isFiltered) ? feeds[feed].scanNewest : undefined
  const isFull = sql`(select count(*) from newest) = ${window.rowsMax}`
  return sql`
    with keys (key) as materialized (${allKeys}),
    newest as materialized (${scanNewest === undefined ? sql`select where false` : siftedSql(walk, scanNewest, window, isFiltered)}),
    heads as materialized (
      select k.key, h.created_at from keys k cross join lateral (${newest}) h where not ${isFull}
      order by h.created_at desc, h.id desc limit ${window.rowsMax}
    ), oldest as materialized (
      select case when count(*) = ${window.rowsMax} then min(created_at) else '-infinity' end as created_at from heads
    )
    ${scanNewest === undefined ? sql`` : sql`select s.* from newest s where ${isFull} union all`}
    select g.* from oldest cross join heads
    cross join lateral (${rangeSql(walk, feed, sql`heads.key`, window, isFiltered, since)}) g
    order by created_at desc, id desc limit ${window.rowsMax}`
}

/**
 * SQL: returns the window if the newest rows of the vault contain it. This reads one range of some thousand rows
 * instead of a thousand ranges. For a viewer who may not see the whole vault all of these rows are checked, however
 * many match. The sub-select is not a join, so that PostgreSQL hashes it.
 */
function siftedSql(walk: Walk, column: string, window: Window, isFiltered: boolean): RawBuilder<unknown> {
  const vault = rangeSql(
    walk,
    'vault',
    sql``,
    { ...window, rowsMax: walk.limits.scannedRows },
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

/** SQL: returns one range of an index, in its order. Without conditions it is an index-only scan. */
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
  const order = feed === 'waiting' || feed === 'orphaned' ? sql`x.walked_id desc` : sql`${at} desc, ${id} desc`
  const { from, to } = feed === 'waiting' ? { from: null, to: null } : filters
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
  /** The table of the index, `operations` by default. Other tables repeat the id and time of the operation. */
  table?: string
  source?(walk: Walk, after: Position | null): RawBuilder<unknown>
  /** The position in the feed, as columns of the range's index. */
  at?: RawBuilder<unknown>
  id?: RawBuilder<unknown>
  where(key: RawBuilder<unknown>, scope: AddressScope): RawBuilder<unknown>
  /** The key column, set if rows of many keys may be selected from the newest rows of the vault. */
  scanNewest?: string
}

/** The feeds, each with its index: db/migrations/0004-ledger.sql, 0013-feeds.sql and 0093-narrow-transfer-rows.sql. */
const feeds: Record<FeedName, Feed> = {
  // An approver may be a voter on very many requests. Ids sort by creation (lib/ids.ts), so the subject ids of votes are in
  // the order of the feed; the fence keeps the planner from starting with the operations.
  waiting: {
    source: ({ scope, filters }, after) => sql`(
      select e.subject_id as walked_id, o.* from (
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
  ordered: { where: (key) => sql`x.type = 'transfer' and ${isExactly('x.initiator_id', key)}` },
  address: { where: (key) => isExactly('x.address_id', key), scanNewest: 'address_id' },
  // The range has few rows, so a member's rows are filtered before any window is cut.
  hash: {
    source: ({ scope, resolved }) => sql`(
      select h.created_at, h.id, ${checkedColumns('o')} from (${operationsOfHash(scope.vaultId, sql`${resolved.txHash}`)}) h
      cross join lateral (select * from operations o where o.vault_id = ${scope.vaultId} and o.id = h.id offset 0) o)`,
    where: (_key, scope) => (scope.isWholeVault ? sql`true` : isOperationInScope(scope, 'x')),
  },
  counterparty: { where: (key) => isExactly('x.counterparty_id', key), scanNewest: 'counterparty_id' },
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
  status: { table: 'unconfirmed_transfers', where: (key) => isExactly('x.status', key) },
  // Ids sort by creation here as well, and the fence does the same.
  orphaned: {
    source: ({ scope }, after) => sql`(
      select p.deposit_id as walked_id, o.* from (
        select p.deposit_id from deposit_orphans p
        where p.vault_id = ${scope.vaultId} and p.returned_at is null
          ${after === null ? sql`` : sql`and p.deposit_id < ${after.id}`}
        order by p.deposit_id desc
      ) p cross join lateral (
        select * from operations o where o.vault_id = ${scope.vaultId} and o.id = p.deposit_id offset 0
      ) o)`,
    where: () => sql`true`,
  },
  token: { where: (key) => isExactly('x.token_id', key) },
}

/**
 * SQL: returns the same condition three times, for the planner. It then estimates a smaller range, and a higher cost
 * for a walk along another index, past the rows of others. PostgreSQL drops conditions that the first one implies.
 */
function isExactly(column: string, key: RawBuilder<unknown>): RawBuilder<unknown> {
  const ref = sql.ref(column)
  return sql`${ref} = ${key} and ${ref} >= ${key} and ${ref} <= ${key}`
}

/** SQL: the conditions that the walk checks on a row `w` of its window, which has `checkedColumns`. */
const checksOf = (walk: Walk) =>
  sql.join(
    walk.path.conditions.map((condition) => conditions[condition](walk)),
    sql` and `,
  )

/** Returns the columns of a row that the conditions read. */
const checkedColumns = (alias: string) =>
  sql.join(
    ['vault_id', 'type', 'status', 'address_id', 'owner_id', 'initiator_id', 'token_id', 'flow_type', 'tx_hash']
      .concat('counterparty_id', 'counterparty_address_id', 'payment_purpose', 'amount', 'counterparty_name', 'note')
      .map((column) => sql.ref(`${alias}.${column}`)),
  )

/** The conditions that the walk checks row by row; `w` is the row. */
const conditions: Record<FeedCondition, (walk: Walk) => RawBuilder<unknown>> = {
  person: ({ scope }) => sql`${scope.ownerId} in (w.owner_id, w.initiator_id)`,
  // The snapshot also names users who have since left the group that made them voters.
  awaiting: ({ filters }) => sql`w.status = 'awaiting_approval' and w.initiator_id <> ${filters.awaitingApprovalOf}
    and exists (select from approval_voters v
      where v.vault_id = w.vault_id and v.subject_id = w.id and v.user_id = ${filters.awaitingApprovalOf}
        and v.decision is null)
    and exists (select from entitled_voters e
      where e.vault_id = w.vault_id and e.subject_id = w.id and e.user_id = ${filters.awaitingApprovalOf})`,
  type: ({ resolved }) => sql`w.type = ${typeOf(resolved)}`,
  status: ({ resolved }) => sql`w.status = any(${resolved.statuses}::text[])`,
  flowType: ({ resolved }) => sql`w.flow_type = ${resolved.flowType}`,
  token: ({ resolved }) => sql`w.token_id = any(${resolved.tokenIds}::text[])`,
  address: ({ resolved }) => sql`w.address_id = any(${resolved.addressIds}::text[])`,
  counterparty: ({ resolved }) => sql`w.counterparty_id = any(${resolved.counterpartyIds}::text[])`,
  counterpartyAddress: ({ resolved }) => sql`w.counterparty_address_id = ${resolved.counterpartyAddressId}`,
  category: ({ scope, resolved }) => sql`exists (
    select from category_assignments a
    join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id
    where a.vault_id = w.vault_id and a.operation_id = w.id and a.category_id = any(${resolved.categoryIds}::text[])
      and ${hasCategoryRight(scope, 'view', 'c', 'w')})`,
  purpose: ({ resolved }) => sql`w.payment_purpose = ${resolved.paymentPurpose}`,
  policy: ({ resolved }) => sql`exists (
    select from transfers t
    where t.vault_id = w.vault_id and t.id = w.id and t.decision_policy_id = ${resolved.decisionPolicyId})`,
  hash: ({ resolved }) => sql`w.tx_hash = ${resolved.txHash}`,
  period: ({ resolved }) => sql`w.created_at >= coalesce(${resolved.from}::timestamptz, '-infinity')
    and w.created_at <= coalesce(${resolved.to}::timestamptz, 'infinity')`,
  initiator: ({ resolved }) => sql`w.initiator_id = ${resolved.initiatorId}`,
  amount: ({ resolved: { minimumAmount, maximumAmount } }) => sql`w.amount >= coalesce(${minimumAmount}::numeric, 0)
    and w.amount <= coalesce(${maximumAmount}::numeric, 'infinity')`,
  search: ({ resolved }) => containsText(resolved.search!),
}

/** SQL condition: the text occurs in a part of the row that every viewer of the operation sees. Short parts are compared first. */
function containsText(text: string): RawBuilder<unknown> {
  const pattern = containsPattern(text)
  const textMatch = sql`w.payment_purpose ilike ${pattern} or w.counterparty_name ilike ${pattern} or w.note ilike ${pattern}`
  if (text.length < searchedPartMin) return sql`(${textMatch})`
  // `exists` is avoided, because PostgreSQL may answer it with a scan of the whole other table.
  return sql`(${textMatch} or w.tx_hash ilike ${pattern} or case w.type
    when 'transfer' then (select t.to_address from transfers t where t.vault_id = w.vault_id and t.id = w.id)
    else (select d.from_address from deposits d where d.vault_id = w.vault_id and d.id = w.id) end ilike ${pattern})`
}
