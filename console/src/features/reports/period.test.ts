import { describe, expect, it } from 'vitest'
import { addDays, intervalOf, isDay, todayIn } from './period.ts'

describe('periods of a report', () => {
  it.each([
    ['today', '2026-03-01', '2026-03-01', '2026-03-02'],
    ['last7', '2026-03-01', '2026-02-23', '2026-03-02'],
    ['last30', '2026-01-05', '2025-12-07', '2026-01-06'],
    ['thisMonth', '2026-03-31', '2026-03-01', '2026-04-01'],
    ['lastMonth', '2026-01-31', '2025-12-01', '2026-01-01'],
    ['thisQuarter', '2026-05-31', '2026-04-01', '2026-06-01'],
    ['lastQuarter', '2026-02-10', '2025-10-01', '2026-01-01'],
    ['thisYear', '2026-12-31', '2026-01-01', '2027-01-01'],
    ['lastYear', '2026-12-31', '2025-01-01', '2026-01-01'],
  ] as const)('%s on %s is from %s until before %s', (period, today, from, to) => {
    expect(intervalOf(period, today)).toEqual({ from, to })
  })

  it.each([
    ['2024-02-29', true],
    ['2026-02-29', false],
    ['2026-2-1', false],
    ['yesterday', false],
  ])('knows whether %s is a day: %s', (text, expected) => expect(isDay(text)).toBe(expected))

  it('adds days over the end of a year', () => expect(addDays('2026-12-31', 1)).toBe('2027-01-01'))

  it('goes by the calendar of the zone', () => {
    const now = new Date('2026-08-03T23:30:00Z')
    expect([todayIn('UTC', now), todayIn('Europe/Berlin', now)]).toEqual(['2026-08-03', '2026-08-04'])
  })
})
