import { describe, expect, it } from 'vitest'
import {
  centsOf,
  changePercent,
  divideHalfEven,
  formatAverage,
  formatMedian,
  formatUsd,
  sharePercent,
} from './exact.ts'

describe('exact arithmetic', () => {
  it('reads and prints cents', () => {
    expect([centsOf('0.05'), centsOf('1234.50'), centsOf(null)]).toEqual([5n, 123_450n, 0n])
    expect([formatUsd(5n), formatUsd(-5n), formatUsd(-123_450n), formatUsd(0n)]).toEqual([
      '0.05',
      '-0.05',
      '-1234.50',
      '0.00',
    ])
  })

  it.each([
    [5n, 2n, 2n],
    [7n, 2n, 4n],
    [-5n, 2n, -2n],
    [-7n, 2n, -4n],
    [8n, 3n, 3n],
    [7n, 3n, 2n],
    [-8n, 3n, -3n],
  ])('%d / %d is %d, rounded half to even', (dividend, divisor, quotient) => {
    expect(divideHalfEven(dividend, divisor)).toBe(quotient)
  })

  it('keeps a median exact beyond the decimals of the token, at any size', () => {
    expect(formatMedian(1n, 2n, 18)).toBe('0.0000000000000000015')
    expect(formatMedian(1n, 2n, 0)).toBe('1.5')
    expect(formatMedian(2n ** 256n - 1n, 2n ** 256n - 2n, 0)).toBe(`${2n ** 256n - 2n}.5`)
    expect(formatMedian(4n, 4n, 2)).toBe('0.04')
  })

  it('rounds a mean to the decimals of the token', () => {
    expect(formatAverage(10n, 3, 2)).toBe('0.03')
    expect(formatAverage(2n ** 256n - 1n, 2, 0)).toBe((2n ** 255n).toString())
  })

  it('returns changes and shares', () => {
    expect([changePercent(150n, 100n), changePercent(1n, 3n), changePercent(5n, 0n)]).toEqual([50, -66.67, null])
    expect([sharePercent(1n, 3n), sharePercent(0n, 0n)]).toEqual([33.33, null])
  })
})
