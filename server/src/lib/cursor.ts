import { badRequest } from './errors.ts'
import { idPattern } from './ids.ts'
import { pageItemsDefault } from './limits.ts'

/** Where a page ends: the (createdAt, id) of its last row. */
export type Position = { createdAt: Date; id: string }
export type PageQuery = { limit?: number; cursor?: string }
export type Page<Row> = { items: Row[]; nextCursor: string | null }

const idForm = new RegExp(idPattern)

export function encodeCursor(position: Position): string {
  return Buffer.from(`${position.createdAt.getTime()}.${position.id}`).toString('base64url')
}

/** @throws 400 when the cursor is not one of ours. */
export function decodeCursor(cursor: string): Position {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [milliseconds = '', id = '', ...rest] = text.split('.')
  if (rest.length > 0 || !/^\d{1,15}$/.test(milliseconds) || !idForm.test(id)) {
    throw badRequest('cursor', 'is not a cursor of this list')
  }
  return { createdAt: new Date(Number(milliseconds)), id }
}

/** What a list query needs: one row more than asked for tells whether another page follows. */
export function pageOf(query: PageQuery): { after: Position | null; limit: number } {
  return {
    after: query.cursor === undefined ? null : decodeCursor(query.cursor),
    limit: query.limit ?? pageItemsDefault,
  }
}

/** Cuts the extra row off and turns the last row kept into the next cursor. */
export function toPage<Row, Item>(
  rows: Row[],
  limit: number,
  position: (row: Row) => Position,
  present: (row: Row) => Item,
): Page<Item> {
  const kept = rows.slice(0, limit)
  const last = kept.at(-1)
  return {
    items: kept.map(present),
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor(position(last)) : null,
  }
}
