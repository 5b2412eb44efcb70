import { describe, expect, it } from 'vitest'
import { decodeCursor, encodeCursor, pageOf, toPage } from './cursor.ts'
import { newId } from './ids.ts'

const at = new Date('2026-01-31T09:30:00.123Z')

describe('cursors', () => {
  it('come back as the position they were made from', () => {
    const position = { createdAt: at, id: newId(at) }
    expect(decodeCursor(encodeCursor(position))).toEqual(position)
  })

  it.each([
    '',
    'x',
    Buffer.from('1.2').toString('base64url'),
    Buffer.from(`abc.${newId()}`).toString('base64url'),
    Buffer.from(`-1.${newId()}`).toString('base64url'),
    Buffer.from(`1769851800123.${newId()}.x`).toString('base64url'),
    Buffer.from(`9999999999999999.${newId()}`).toString('base64url'),
    Buffer.from(`1769851800123.${newId()}' or 1=1`).toString('base64url'),
  ])('that are not ours are refused: %s', (cursor) => {
    expect(() => decodeCursor(cursor)).toThrow('cursor: is not a cursor of this list')
  })

  it('end with the last page', () => {
    const rows = [1, 2, 3].map((n) => ({ n, createdAt: at, id: `c${String(n).padStart(24, '0')}` }))
    const page = (limit: number) =>
      toPage(
        rows,
        limit,
        (row) => row,
        (row) => row.n,
      )
    expect(page(3)).toEqual({ items: [1, 2, 3], nextCursor: null })
    expect(page(2)).toEqual({ items: [1, 2], nextCursor: encodeCursor(rows[1]!) })
    expect(pageOf({ cursor: page(2).nextCursor! }).after?.id).toBe(rows[1]?.id)
    expect(pageOf({})).toEqual({ after: null, limit: 20 })
  })
})
