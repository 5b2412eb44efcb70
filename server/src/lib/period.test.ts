import { describe, expect, it } from 'vitest'
import { parseBounds, parseTimestamp } from './period.ts'

describe('bounds', () => {
  it.each([
    [{}, null, null],
    [{ from: '2026-01-31' }, '2026-01-31T00:00:00.000Z', null],
    [{ to: '2026-01-31' }, null, '2026-01-31T23:59:59.999Z'],
    [{ from: '2024-02-29', to: '2024-02-29' }, '2024-02-29T00:00:00.000Z', '2024-02-29T23:59:59.999Z'],
    [{ from: '2026-01-31T09:30:00Z' }, '2026-01-31T09:30:00.000Z', null],
    [{ from: '2026-01-31T09:30:00+02:00' }, '2026-01-31T07:30:00.000Z', null],
    [{ from: '2026-01-31T23:30-01:30' }, '2026-02-01T01:00:00.000Z', null],
    [{ from: '2026-01-31T09:30:00.1234Z' }, '2026-01-31T09:30:00.124Z', null],
    [{ to: '2026-01-31T09:30:00.1239Z' }, null, '2026-01-31T09:30:00.123Z'],
    [{ from: '2026-01-31T09:30:00.123000Z' }, '2026-01-31T09:30:00.123Z', null],
  ])('of %j', (query, from, to) => {
    const bounds = parseBounds(query)
    expect([bounds.from?.toISOString() ?? null, bounds.to?.toISOString() ?? null]).toEqual([from, to])
  })

  it.each([
    ['2026-02-30'],
    ['2025-02-29'],
    ['2026-13-01'],
    ['2026-00-10'],
    ['2026-1-1'],
    ['20260131'],
    ['31.01.2026'],
    ['2026-02-30T00:00:00Z'],
    ['2026-01-31T24:00:00Z'],
    ['2026-01-31T09:60:00Z'],
    ['2026-01-31T09:30:60Z'],
    ['2026-01-31T09:30:00'],
    ['2026-01-31 09:30:00Z'],
    ['2026-01-31T09:30:00+25:00'],
    ['1769851800'],
    ['now'],
    [''],
  ])('refuse %j', (text) => {
    expect(() => parseBounds({ from: text })).toThrow('from: must be an ISO 8601 timestamp')
    expect(() => parseBounds({ to: text })).toThrow('to: must be an ISO 8601 timestamp')
  })

  it('refuse an interval that ends before it begins', () => {
    expect(() => parseBounds({ from: '2026-02-01', to: '2026-01-31' })).toThrow('from: must not be after to')
    expect(parseBounds({ from: '2026-01-31T23:59:59.999Z', to: '2026-01-31' }).from).not.toBeNull()
  })

  it('read a timestamp to the millisecond', () => {
    expect(parseTimestamp('2026-01-31T09:30:00.5Z')?.toISOString()).toBe('2026-01-31T09:30:00.500Z')
    expect(parseTimestamp('2026-01-31')).toBeNull()
  })
})
