import { canonicalJson } from './canonical-json.ts'
import { badRequest } from './errors.ts'
import { idPattern } from './ids.ts'
import { pageItemsDefault } from './limits.ts'
import { sha256 } from './secrets.ts'

/** The end of a page: the (createdAt, id) of its last row. */
export type Position = { createdAt: Date; id: string }
/** The page to read: the rows after a position, at most `limit` of them. */
export type Paging = { after: Position | null; limit: number }
/** Returns the position of a row in most lists. */
export const byCreation = (row: { created_at: Date; id: string }): Position => ({
  createdAt: row.created_at,
  id: row.id,
})
export type PageQuery = { limit?: number; cursor?: string }
export type Page<Row> = { items: Row[]; nextCursor: string | null }

const idForm = new RegExp(idPattern)

/**
 * Returns a short hash of the properties that decide the content of a list, all except the limit. A cursor with this tag is valid
 * for no other list.
 */
export function cursorTag(query: object): string {
  return sha256(canonicalJson(query)).toString('base64url').slice(0, 8)
}

export function encodeCursor(position: Position, tag?: string): string {
  const parts = [position.createdAt.getTime(), position.id, ...(tag === undefined ? [] : [tag])]
  return Buffer.from(parts.join('.')).toString('base64url')
}

/** @throws 400 when the cursor was not issued by this service, or not for the list that has this tag. */
export function decodeCursor(cursor: string, tag?: string): Position {
  const bytes = Buffer.from(cursor, 'base64url')
  // The decoder ignores characters outside its alphabet.
  if (bytes.toString('base64url') !== cursor)
    throw badRequest('cursor', 'is not a cursor of this list', 'invalid_cursor')
  const text = bytes.toString()
  const [milliseconds = '', id = '', ...rest] = text.split('.')
  if (!/^\d{1,15}$/.test(milliseconds) || !idForm.test(id))
    throw badRequest('cursor', 'is not a cursor of this list', 'invalid_cursor')
  if (rest.length > 1 || rest[0] !== tag)
    throw badRequest('cursor', 'is not a cursor of this list with these filters', 'invalid_cursor')
  return { createdAt: new Date(Number(milliseconds)), id }
}

/** Returns the page that a list query requests. Readers fetch one row more than `limit`, to see whether another page follows. */
export function pageOf(query: PageQuery, tag?: string): Paging {
  return {
    after: query.cursor === undefined ? null : decodeCursor(query.cursor, tag),
    limit: query.limit ?? pageItemsDefault,
  }
}

/** Cuts the extra row off and turns the last kept row into the next cursor, of the list with this tag. */
export function toPage<Row, Item>(
  rows: Row[],
  limit: number,
  position: (row: Row) => Position,
  present: (row: Row) => Item,
  tag?: string,
): Page<Item> {
  const kept = rows.slice(0, limit)
  const last = kept.at(-1)
  return {
    items: kept.map(present),
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor(position(last), tag) : null,
  }
}

/** Returns a page of a list that defines its own position, with cursors that are not valid for other lists. */
export function toTaggedPage<Row, Item>(
  { rows, next }: { rows: Row[]; next: Position | null },
  tag: string,
  present: (row: Row) => Item,
): Page<Item> {
  return { items: rows.map(present), nextCursor: next === null ? null : encodeCursor(next, tag) }
}
