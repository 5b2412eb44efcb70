import { describe, expect, it } from 'vitest'
import { findJump } from './jump.ts'

describe('T64 a jump of a rate', () => {
  it.each([
    // rate, newest, anchor, factor in hundredths, the earlier rate from which the rate jumps
    ['2', '1', '1', 200, null],
    ['2.000000000000000001', '1', '1', 200, '1'],
    ['0.5', '1', '1', 200, null],
    ['0.499999999999999999', '1', '1', 200, '1'],
    ['1.5', '1', '1', 150, null],
    ['1.51', '1', '1', 150, '1'],
    ['0.66', '1', '1', 150, '1'],
    ['0.9', '0.5', '1', 200, null],
    ['0.4', '0.5', '1', 200, '1'],
    ['1.1', '0.5', '1', 200, '0.5'],
    ['0.000000000000000001', '0.000000000000000002', '0.000000000000000002', 200, null],
    ['99999999999999999999', '1', '1', 99_999, '1'],
  ])('from %s after %s, a day ago %s, with the factor %i: %s', (rate, newest, anchor, factor, from) => {
    expect(findJump(rate, { newest, anchor }, factor)).toBe(from)
  })
})
