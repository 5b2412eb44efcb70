import { sql } from 'kysely'
import type { AddressScope } from '../../../access/address-scope.ts'
import { type Db, prepared } from '../../../db/client.ts'
import type { Position } from '../../../lib/cursor.ts'
import type { FeedFilters, FeedLimits, FeedPage } from './feed.ts'
import { checksOf } from './feed-conditions.ts'
import type { FeedPath, ResolvedFilters } from './feed-path.ts'
import { isGathered, windowSql } from './feed-windows.ts'

export type Walk = {
  scope: AddressScope
  filters: FeedFilters
  resolved: ResolvedFilters
  path: FeedPath
  limits: FeedLimits
}
/** The next `rowsMax` rows of the path, or of one of its ranges. */
export type Window = { after: Position | null; rowsMax: number }

/** Walks window after window until the page is full, the path ends, or the request has read its maximum. */
export async function walkPath(db: Db, walk: Walk, page: FeedPage): Promise<{ ids: string[]; next: Position | null }> {
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

/** The rows of a window that meet the conditions, and its last row when it is full and more may follow. */
type Part = { found: Position[]; end: Position | null }
type PositionRow = { created_at: Date; id: string }
const toPosition = (row: PositionRow): Position => ({ createdAt: row.created_at, id: row.id })

/** Without conditions a window is a page, and an incomplete one is the last. */
async function readRows(db: Db, walk: Walk, window: Window): Promise<Part> {
  const mark = hasFewForms(walk) ? prepared : sql``
  const { rows } = await sql<PositionRow>`${mark} ${windowSql(walk, window, false)} limit ${window.rowsMax}`.execute(db)
  return { found: rows.map(toPosition), end: null }
}

/** The text contains no number of keys, so that each feed has one prepared statement per kind of viewer, with and without cursor. */
function hasFewForms(walk: Walk): boolean {
  const { filters, path } = walk
  const isBounded = filters.from !== null || filters.to !== null
  return !isBounded && path.ranges.every((range) => range.keys.length === 1 || isGathered(range, walk))
}

/** PostgreSQL stops at the last row of the page; the end of the window is computed only when the page is not full. */
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

/** Gathered rows are read completely in any case, so the end of the window is returned with them. */
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
