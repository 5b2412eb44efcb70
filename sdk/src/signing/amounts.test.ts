import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compare, fromRaw, toRaw } from './amounts.ts'

describe('amounts', () => {
  it('convert exactly, with the decimals of a token', () => {
    expect(toRaw('1.5', 6)).toBe(1_500_000n)
    expect(toRaw('1.50', { decimals: 1 })).toBe(15n)
    expect(toRaw('-0.25', 2)).toBe(-25n)
    expect(toRaw('123456789012345678901234567890.123456789012345678', 18)).toBe(
      123456789012345678901234567890123456789012345678n,
    )
    expect(fromRaw(1_500_000n, { decimals: 6 })).toBe('1.5')
    expect(fromRaw('5', 0)).toBe('5')
    expect(fromRaw(-25n, 2)).toBe('-0.25')
    expect(fromRaw(0n, 18)).toBe('0')
  })

  it('refuse inexact amounts', () => {
    for (const amount of ['1.234', '1e3', '', '1.', '.5', '+1', '1,5', ' 1', '0x10', 'NaN']) {
      expect(() => toRaw(amount, 2), amount).toThrow(RangeError)
    }
    for (const decimals of [-1, 1.5, Number.NaN]) expect(() => toRaw('1', decimals)).toThrow(RangeError)
  })

  it('compare by value', () => {
    expect(compare('1.50', '1.5')).toBe(0)
    expect(compare('9', '10')).toBe(-1)
    expect(compare('0.000000000000000001', '0')).toBe(1)
    expect(['10', '-1', '9.99', '0'].sort(compare)).toEqual(['-1', '0', '9.99', '10'])
  })

  it('come back as they were, and in their order', () => {
    const raw = fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n })
    fc.assert(
      fc.property(raw, raw, fc.integer({ min: 0, max: 36 }), (a, b, decimals) => {
        expect(toRaw(fromRaw(a, decimals), decimals)).toBe(a)
        expect(compare(fromRaw(a, decimals), fromRaw(b, decimals))).toBe(a < b ? -1 : a > b ? 1 : 0)
      }),
    )
  })
})
