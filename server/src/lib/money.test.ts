import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rawAmountMax } from './limits.ts'
import { addDecimals, compareDecimals, formatDecimal, multiplyDecimals, parseDecimal, percentOf } from './money.ts'

describe('money', () => {
  it.each([
    ['0', 6, 0n],
    ['1', 0, 1n],
    ['1.5', 6, 1_500_000n],
    ['1.50', 6, 1_500_000n],
    ['0.000001', 6, 1n],
    ['1.0000000', 6, 1_000_000n],
    ['115792089237316195423570985008687907853269984665640564039457584007913129639935', 0, rawAmountMax],
    ['115792089237316195423570985008687907853269984665640564039457.584007913129639935', 18, rawAmountMax],
  ])('T7 parses %s with %d decimals exactly', (text, decimals, raw) => {
    expect(parseDecimal(text, decimals)).toBe(raw)
  })

  it.each([
    ['', 6],
    [' 1', 6],
    ['1 ', 6],
    ['-1', 6],
    ['+1', 6],
    ['1e18', 18],
    ['1E2', 18],
    ['0x1', 6],
    ['NaN', 6],
    ['Infinity', 6],
    ['.5', 6],
    ['5.', 6],
    ['01', 6],
    ['00', 6],
    ['1,000', 6],
    ['1_000', 6],
    ['١', 6],
    ['1\n', 6],
    ['1.0000001', 6],
    ['0.1', 0],
    ['115792089237316195423570985008687907853269984665640564039457584007913129639936', 0],
    ['115792089237316195423570985008687907853269984665640564039457584007913129639935', 1],
    ['9'.repeat(79), 0],
  ])('T7 refuses %j with %d decimals', (text, decimals) => {
    expect(parseDecimal(text, decimals)).toBeNull()
  })

  it.each([
    [0n, 18, '0'],
    [1n, 18, '0.000000000000000001'],
    [1_500_000n, 6, '1.5'],
    [1_000_000n, 6, '1'],
    [100n, 0, '100'],
    [-250_000n, 6, '-0.25'],
    ['42', 1, '4.2'],
  ])('formats %s with %d decimals as %s', (raw, decimals, text) => {
    expect(formatDecimal(raw, decimals)).toBe(text)
  })

  it('T7 loses nothing on the way out and in again', () => {
    const amount = fc.bigInt({ min: 0n, max: rawAmountMax })
    fc.assert(
      fc.property(amount, fc.integer({ min: 0, max: 36 }), (raw, decimals) => {
        expect(parseDecimal(formatDecimal(raw, decimals), decimals)).toBe(raw)
      }),
    )
  })

  it('compares like the amounts that the texts stand for', () => {
    const amount = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n })
    const decimals = fc.integer({ min: 0, max: 18 })
    fc.assert(
      fc.property(amount, decimals, amount, decimals, (a, aDecimals, b, bDecimals) => {
        const difference = a * 10n ** BigInt(bDecimals) - b * 10n ** BigInt(aDecimals)
        const compared = compareDecimals(formatDecimal(a, aDecimals), formatDecimal(b, bDecimals))
        expect(Math.sign(compared)).toBe(difference < 0n ? -1 : difference > 0n ? 1 : 0)
      }),
    )
  })

  it('compares plain texts that are not in their shortest form', () => {
    for (const [a, b, sign] of [
      ['1', '1.000', 0],
      ['1.50', '1.5', 0],
      ['1.05', '1.5', -1],
      ['10', '9.9', 1],
      ['0', '0.0001', -1],
      ['9.9999', '10', -1],
    ] as const) {
      expect(Math.sign(compareDecimals(a, b)), `${a} ${b}`).toBe(sign)
      expect(Math.sign(compareDecimals(b, a)), `${b} ${a}`).toBe(sign === 0 ? 0 : -sign)
    }
  })

  it('adds and multiplies exactly, and formats a percentage without trailing digits', () => {
    expect(addDecimals('0.1', '0.2')).toBe('0.3')
    expect(addDecimals('999.999999999999999999', '0.000000000000000001')).toBe('1000')
    expect(multiplyDecimals('1000.5', '0.999')).toBe('999.4995')
    expect(multiplyDecimals('0.000001', '0.000000000000000001')).toBe('0.000000000000000000000001')
    expect(multiplyDecimals('0', '12.5')).toBe('0')
    expect(percentOf('1', '3')).toBe('33.333333')
    expect(percentOf('2.5', '2.5')).toBe('100')
    expect(percentOf('0.00000000001', '1000000')).toBe('0')
    const amount = fc.bigInt({ min: 0n, max: rawAmountMax })
    const decimals = fc.integer({ min: 0, max: 18 })
    fc.assert(
      fc.property(amount, decimals, amount, decimals, (a, aDecimals, b, bDecimals) => {
        const [x, y] = [formatDecimal(a, aDecimals), formatDecimal(b, bDecimals)]
        expect(multiplyDecimals(x, y)).toBe(formatDecimal(a * b, aDecimals + bDecimals))
        const sum = a * 10n ** BigInt(bDecimals) + b * 10n ** BigInt(aDecimals)
        expect(addDecimals(x, y)).toBe(formatDecimal(sum, aDecimals + bDecimals))
      }),
    )
  })
})
