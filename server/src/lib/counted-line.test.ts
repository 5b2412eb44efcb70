import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { countLines } from './counted-line.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('the first of many events is noted at once, then the number of further events, then the end', () => {
  const lines: string[] = []
  const note = countLines<string>({
    begun: (event) => lines.push(`begun: ${event}`),
    goesOn: (count) => lines.push(`${count} more`),
    ended: (total) => lines.push(`ended after ${total}`),
  })
  for (const event of ['a', 'b', 'c']) note(event)
  expect(lines).toEqual(['begun: a'])
  vi.advanceTimersByTime(10_000)
  note('d')
  vi.advanceTimersByTime(30_000)
  expect(lines).toEqual(['begun: a', '2 more', '1 more', 'ended after 4'])
  note('e')
  expect(lines.at(-1)).toBe('begun: e')
  vi.advanceTimersByTime(10_000)
  expect(lines.at(-1)).toBe('ended after 1')
})
