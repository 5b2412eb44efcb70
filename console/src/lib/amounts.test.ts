import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseAmount } from './amounts.ts'
import { shorten } from './shorten.ts'

afterEach(() => vi.unstubAllGlobals())

describe('parseAmount with a decimal point', () => {
  beforeEach(() => vi.stubGlobal('navigator', { languages: ['en-GB'] }))
  it.each([
    ['1234.5', '1234.5'],
    ['1,234.5', '1234.5'],
    ['12,34,567', '1234567'],
    [' 1 234.50 ', '1234.50'],
    ['1,5', null],
    ['1,2345', null],
    ['1.2.3', null],
    ['1.1234567', null],
    ['-1', null],
    ['1e3', null],
    ['.5', null],
    ['1.', null],
    ['', null],
  ])('%s', (text, expected) => expect(parseAmount(text, 6)).toBe(expected))
})

it.each([
  ['4.999865742786921806', '4.99986574'],
  ['12.5', '12.5'],
  ['123.00000000', '123.00000000'],
  ['0.000000000000000001', '0.000000000000000001'],
  ['-0.000000000000000001', '-0.000000000000000001'],
  ['7.000000000000000001', '7.00000000'],
])('a short form of %s is %s', (decimal, expected) => expect(shorten(decimal)).toBe(expected))
