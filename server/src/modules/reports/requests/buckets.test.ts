import { describe, expect, it } from 'vitest'
import { cutInterval, type GroupBy, isLongerThan, isZone, parseInstant, previousInterval } from './buckets.ts'

const cut = (from: string, to: string, zone: string, groupBy: GroupBy = 'day') =>
  cutInterval({ from: new Date(from), to: new Date(to) }, zone, groupBy).buckets.map(({ start }) => start.toISOString())
const hoursOf = (from: string, to: string, zone: string) =>
  cutInterval({ from: parseInstant('from', from, zone), to: parseInstant('to', to, zone) }, zone, 'day').buckets.map(
    ({ start, end }) => (end.getTime() - start.getTime()) / 3_600_000,
  )

describe('the days of a zone', () => {
  it('T54 begin the day of a missing midnight at one o’clock (Santiago, 2019-09-08)', () => {
    expect(cut('2019-09-07T04:00:00.000Z', '2019-09-10T03:00:00.000Z', 'America/Santiago')).toEqual([
      '2019-09-07T04:00:00.000Z',
      // Clocks went from 24:00 straight to 01:00, at 04:00 UTC.
      '2019-09-08T04:00:00.000Z',
      '2019-09-09T03:00:00.000Z',
    ])
    expect(hoursOf('2019-09-07', '2019-09-10', 'America/Santiago')).toEqual([24, 23, 24])
  })

  it('follow clocks that change by half an hour (Lord Howe, 2026-04-05 and 2026-10-04)', () => {
    expect(hoursOf('2026-04-04', '2026-04-07', 'Australia/Lord_Howe')).toEqual([24, 24.5, 24])
    expect(hoursOf('2026-10-03', '2026-10-06', 'Australia/Lord_Howe')).toEqual([24, 23.5, 24])
  })

  it('have no bucket for a day that did not exist (Apia, 2011-12-30)', () => {
    expect(cut('2011-12-29T10:00:00.000Z', '2011-12-31T10:00:00.000Z', 'Pacific/Apia')).toEqual([
      // The 29th, ten hours behind UTC; then at once the 31st, fourteen hours ahead.
      '2011-12-29T10:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
    ])
    expect(hoursOf('2011-12-28', '2012-01-02', 'Pacific/Apia')).toEqual([24, 24, 24, 24])
    expect(parseInstant('from', '2011-12-30', 'Pacific/Apia')).toEqual(
      parseInstant('from', '2011-12-31', 'Pacific/Apia'),
    )
  })

  it('T54 include a leap day', () => {
    expect(cut('2028-02-28T00:00:00.000Z', '2028-03-02T00:00:00.000Z', 'UTC')).toEqual([
      '2028-02-28T00:00:00.000Z',
      '2028-02-29T00:00:00.000Z',
      '2028-03-01T00:00:00.000Z',
    ])
    expect(cut('2027-02-28T00:00:00.000Z', '2027-03-02T00:00:00.000Z', 'UTC')).toHaveLength(2)
  })

  it('begin weeks on Monday, across new year too', () => {
    expect(cut('2026-12-21T00:00:00.000Z', '2027-01-12T00:00:00.000Z', 'UTC', 'week')).toEqual([
      '2026-12-21T00:00:00.000Z',
      // ISO week 53 of 2026 holds the first three days of 2027.
      '2026-12-28T00:00:00.000Z',
      '2027-01-04T00:00:00.000Z',
      '2027-01-11T00:00:00.000Z',
    ])
    // 2024-12-30 is a Monday of week 1 of 2025, which differs from week 1 of 2024.
    expect(cut('2024-12-29T00:00:00.000Z', '2025-01-06T00:00:00.000Z', 'UTC', 'week')).toEqual([
      '2024-12-29T00:00:00.000Z',
      '2024-12-30T00:00:00.000Z',
    ])
  })

  it('cut months at the midnights of the zone', () => {
    expect(cut('2026-02-28T23:00:00.000Z', '2026-04-30T22:00:00.000Z', 'Europe/Berlin', 'month')).toEqual([
      '2026-02-28T23:00:00.000Z',
      '2026-03-31T22:00:00.000Z',
    ])
  })

  it('end the first and the last bucket with the interval', () => {
    const { buckets } = cutInterval(
      { from: new Date('2026-03-01T10:00:00.000Z'), to: new Date('2026-03-02T01:00:00.000Z') },
      'UTC',
      'day',
    )
    expect(buckets).toEqual([
      { start: new Date('2026-03-01T10:00:00.000Z'), end: new Date('2026-03-02T00:00:00.000Z') },
      { start: new Date('2026-03-02T00:00:00.000Z'), end: new Date('2026-03-02T01:00:00.000Z') },
    ])
  })

  it('are limited to the longest interval, to the millisecond', () => {
    const isLonger = (to: string, zone: string) =>
      isLongerThan({ from: new Date('2026-03-01T00:00:00.000Z'), to: new Date(to) }, zone, 10)
    expect([isLonger('2036-03-01T00:00:00.000Z', 'UTC'), isLonger('2036-03-01T00:00:00.001Z', 'UTC')]).toEqual([
      false,
      true,
    ])
  })
})

describe('intervals before', () => {
  const before = (from: string, to: string, zone: string, mode: 'previous_period' | 'previous_year') => {
    const { from: start, to: end } = previousInterval({ from: new Date(from), to: new Date(to) }, zone, mode)
    return [start.toISOString(), end.toISOString()]
  }

  it('have the same length on the wall clock, whatever the clocks did', () => {
    // The 30 days until 31 March 2026 are an hour short in Berlin; the 30 days before them are not.
    expect(before('2026-03-01T23:00:00Z', '2026-03-31T22:00:00Z', 'Europe/Berlin', 'previous_period')).toEqual([
      '2026-01-30T23:00:00.000Z',
      '2026-03-01T23:00:00.000Z',
    ])
  })

  it.each<[string, string, string, string, string]>([
    ['a month', 'UTC', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    [
      'March, before which is February',
      'UTC',
      '2026-03-01T00:00:00Z',
      '2026-04-01T00:00:00Z',
      '2026-02-01T00:00:00.000Z',
    ],
    ['March of a leap year', 'UTC', '2028-03-01T00:00:00Z', '2028-04-01T00:00:00Z', '2028-02-01T00:00:00.000Z'],
    [
      'a month in which clocks change',
      'Europe/Berlin',
      '2026-02-28T23:00:00Z',
      '2026-03-31T22:00:00Z',
      '2026-01-31T23:00:00.000Z',
    ],
    ['a month after one', 'Europe/Berlin', '2026-03-31T22:00:00Z', '2026-04-30T22:00:00Z', '2026-02-28T23:00:00.000Z'],
    ['a quarter', 'UTC', '2026-01-01T00:00:00Z', '2026-04-01T00:00:00Z', '2025-10-01T00:00:00.000Z'],
    ['two months', 'UTC', '2026-02-01T00:00:00Z', '2026-04-01T00:00:00Z', '2025-12-01T00:00:00.000Z'],
    ['a leap year', 'Asia/Tokyo', '2027-12-31T15:00:00Z', '2028-12-31T15:00:00Z', '2026-12-31T15:00:00.000Z'],
    // In Santiago 1 September 2024 had a midnight, 8 September did not.
    [
      'a month that is an hour short',
      'America/Santiago',
      '2024-09-01T04:00:00Z',
      '2024-10-01T03:00:00Z',
      '2024-08-01T04:00:00.000Z',
    ],
  ])('are the whole months before %s', (_name, zone, from, to, expected) => {
    expect(before(from, to, zone, 'previous_period')).toEqual([expected, new Date(from).toISOString()])
  })

  it('have the same length before a month of another zone', () => {
    expect(before('2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z', 'Asia/Tokyo', 'previous_period')).toEqual([
      '2026-01-29T00:00:00.000Z',
      '2026-03-01T00:00:00.000Z',
    ])
  })

  it('are the same dates of the year before, and the 28th for a leap day', () => {
    expect(before('2028-02-29T00:00:00Z', '2028-03-01T00:00:00Z', 'UTC', 'previous_year')).toEqual([
      '2027-02-28T00:00:00.000Z',
      '2027-03-01T00:00:00.000Z',
    ])
  })
})

describe('bounds and zones', () => {
  it('read days as the first instant of the zone', () => {
    expect(parseInstant('from', '2026-07-01', 'Asia/Tokyo').toISOString()).toBe('2026-06-30T15:00:00.000Z')
    expect(parseInstant('to', '2026-07-01T09:30:00+02:00', 'Asia/Tokyo').toISOString()).toBe('2026-07-01T07:30:00.000Z')
    expect(() => parseInstant('to', '2026-02-30', 'UTC')).toThrow('to: must be')
    expect(() => parseInstant('from', '2026-02-01T09:30:00', 'UTC')).toThrow('from: must be')
  })

  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'])('accept %s', (zone) => {
    expect(isZone(zone)).toBe(true)
  })
  it.each(['Mars/Phobos', '+02:00', '', 'Europe'])('refuse %s', (zone) => {
    expect(isZone(zone)).toBe(false)
  })
})
