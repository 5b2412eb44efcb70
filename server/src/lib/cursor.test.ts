import { describe, expect, it } from 'vitest'
import { cursorTag, decodeCursor, encodeCursor, pageOf, toPage, toTaggedPage } from './cursor.ts'
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
    `${encodeCursor({ createdAt: at, id: newId() })}!`,
    ` ${encodeCursor({ createdAt: at, id: newId() })}`,
  ])('that this service did not issue are refused: %s', (cursor) => {
    expect(() => decodeCursor(cursor)).toThrow('cursor: is not a cursor of this list')
  })

  it('with a tag fit the list with this tag only', () => {
    const position = { createdAt: at, id: newId(at) }
    const tag = cursorTag({ list: 'history', status: 'pending', from: at })
    expect(tag).toMatch(/^[\w-]{8}$/)
    expect(cursorTag({ from: at, status: 'pending', list: 'history' })).toBe(tag)
    expect(cursorTag({ from: at, status: 'pending', list: 'transfers' })).not.toBe(tag)
    expect(decodeCursor(encodeCursor(position, tag), tag)).toEqual(position)
    const refused = 'is not a cursor of this list with these filters'
    expect(() => decodeCursor(encodeCursor(position, tag), cursorTag({}))).toThrow(refused)
    expect(() => decodeCursor(encodeCursor(position, tag))).toThrow(refused)
    expect(() => decodeCursor(encodeCursor(position), tag)).toThrow(refused)
    expect(() => pageOf({ cursor: encodeCursor(position) }, tag)).toThrow(refused)
    const page = toTaggedPage({ rows: [1, 2], next: position }, tag, String)
    expect(page).toEqual({ items: ['1', '2'], nextCursor: encodeCursor(position, tag) })
    expect(toTaggedPage({ rows: [], next: null }, tag, String)).toEqual({ items: [], nextCursor: null })
  })

  it('end with the last page', () => {
    const rows = [1, 2, 3].map((n) => ({ n, createdAt: at, id: `c${String(n).padStart(24, '0')}` }))
    const page = (limit: number, tag?: string) =>
      toPage(
        rows,
        limit,
        (row) => row,
        (row) => row.n,
        tag,
      )
    expect(page(3)).toEqual({ items: [1, 2, 3], nextCursor: null })
    expect(page(2)).toEqual({ items: [1, 2], nextCursor: encodeCursor(rows[1]!) })
    expect(page(2, 'of-these')).toEqual({ items: [1, 2], nextCursor: encodeCursor(rows[1]!, 'of-these') })
    expect(pageOf({ cursor: page(2).nextCursor! }).after?.id).toBe(rows[1]?.id)
    expect(pageOf({})).toEqual({ after: null, limit: 20 })
  })
})
