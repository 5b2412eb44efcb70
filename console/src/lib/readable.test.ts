import { beforeAll, expect, it, vi } from 'vitest'
import { readable } from './readable.ts'

beforeAll(() => {
  vi.stubGlobal('navigator', { languages: ['en-US'] })
})

it.each([
  [
    'In the period from 2026-11-22T12:00:00.000Z the turnover was at least 3 times the mean.',
    'In the period from Nov 22, 2026 the turnover was at least 3 times the mean.',
  ],
  ['The deposit cmwrugrduc6914ycy3iflf50a is worth a lot.', 'The deposit is worth a lot.'],
  ['There was no operation with Northwind before.', 'There was no operation with Northwind before.'],
])('%s', (description, words) => {
  expect(readable(description)).toBe(words)
})
