import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseAmount } from './amounts.ts'

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
