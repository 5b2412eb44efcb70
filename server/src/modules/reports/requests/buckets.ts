import { Temporal } from 'temporal-polyfill'
import { badRequest } from '../../../lib/errors.ts'
import { parseDay, parseTimestamp } from '../../../lib/period.ts'

/** This file converts days, weeks and months of a zone to instants; documents/zoned-time.ts shows instants on the clocks of a zone. */

export const groupings = ['day', 'week', 'month'] as const
export type GroupBy = (typeof groupings)[number]

/** A half-open interval: `from` is included, `to` is not. */
export type Interval = { from: Date; to: Date }

/** A day of the zone, cut to the interval. */
export type Day = { start: Date; date: Temporal.PlainDate }

type Bucket = { start: Date; end: Date }

/** The days of an interval, and the index of the bucket of each day. */
export type Calendar = { days: Day[]; buckets: Bucket[]; bucketOfDay: number[] }

/** Returns true if the IANA database has a zone of this name; an offset such as `+02:00` is not a zone. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return true
  } catch {
    return false
  }
}

/**
 * Parses a bound of a report: a timestamp with a zone, or a day (YYYY-MM-DD), which stands for its first instant in the zone.
 * @throws 400 for a date that does not exist
 */
export function parseInstant(field: 'from' | 'to', text: string, zone: string): Date {
  if (parseDay(text) !== null) return startOfDay(Temporal.PlainDate.from(text), zone)
  const instant = parseTimestamp(text)
  if (instant === null) throw badRequest(field, 'must be an ISO 8601 timestamp with a zone, or a day as YYYY-MM-DD')
  // Timestamps are stored in whole milliseconds, so a bound between two milliseconds is the later one.
  return /\.\d{3}\d*[1-9]/.test(text) ? new Date(instant.getTime() + 1) : instant
}

/**
 * Cuts an interval at the midnights of the zone, and groups its days into buckets; weeks begin on Monday. The first and the
 * last bucket end with the interval. A day that the zone skipped is in no bucket.
 */
export function cutInterval({ from, to }: Interval, zone: string, groupBy: GroupBy): Calendar {
  const days = daysOf({ from, to }, zone)
  const buckets: Bucket[] = []
  const bucketOfDay: number[] = []
  let latest: string | null = null
  for (const { start, date } of days) {
    const name = bucketName(date, groupBy)
    if (name !== latest) {
      const open = buckets.at(-1)
      if (open !== undefined) open.end = start
      buckets.push({ start, end: to })
      latest = name
    }
    bucketOfDay.push(buckets.length - 1)
  }
  return { days, buckets, bucketOfDay }
}

function daysOf({ from, to }: Interval, zone: string): Day[] {
  let date = atZone(from, zone).toPlainDate()
  const days: Day[] = [{ start: from, date }]
  for (;;) {
    date = date.add({ days: 1 })
    const start = startOfDay(date, zone)
    if (start.getTime() >= to.getTime()) return days
    // A day that the zone skipped would begin at the same instant as the next one, so only the next one is kept.
    if (start.getTime() === days.at(-1)!.start.getTime()) days.pop()
    days.push({ start, date })
  }
}

function bucketName(date: Temporal.PlainDate, groupBy: GroupBy): string {
  if (groupBy === 'day') return date.toString()
  if (groupBy === 'month') return `${date.year}-${date.month}`
  return `${date.yearOfWeek}-${date.weekOfYear}`
}

/**
 * Returns the interval before this one, or the same dates of the previous year. Whole months of the zone (a month, a quarter, a
 * year) are preceded by as many whole months; any other interval by an interval of the same length in local time.
 */
export function previousInterval(
  { from, to }: Interval,
  zone: string,
  mode: 'previous_period' | 'previous_year',
): Interval {
  const [start, end] = [atZone(from, zone), atZone(to, zone)]
  if (mode === 'previous_year') {
    return { from: dateOf(start.subtract({ years: 1 })), to: dateOf(end.subtract({ years: 1 })) }
  }
  const months = wholeMonths(start, end)
  if (months !== null) return { from: startOfDay(start.toPlainDate().subtract({ months }), zone), to: from }
  return { from: dateOf(start.subtract(start.until(end, { largestUnit: 'day' }))), to: from }
}

/** Returns the number of months between two first instants of months; null when either is not such an instant. */
function wholeMonths(start: Temporal.ZonedDateTime, end: Temporal.ZonedDateTime): number | null {
  const isFirstInstant = (local: Temporal.ZonedDateTime) => local.day === 1 && local.equals(local.startOfDay())
  if (!isFirstInstant(start) || !isFirstInstant(end)) return null
  return (end.year - start.year) * 12 + end.month - start.month
}

/** Returns the first instant of the day that is `days` before the day of `instant`. */
export function daysBefore(instant: Date, zone: string, days: number): Date {
  return startOfDay(atZone(instant, zone).toPlainDate().subtract({ days }), zone)
}

/** Returns the interval for history, which includes both bounds; timestamps are stored in whole milliseconds. */
export const historyBounds = ({ from, to }: Interval) => ({
  from: from.toISOString(),
  to: new Date(to.getTime() - 1).toISOString(),
})

/** Returns true if the interval is longer than this many years, on the calendar of the zone. */
export function isLongerThan({ from, to }: Interval, zone: string, years: number): boolean {
  return atZone(from, zone).add({ years }).epochMilliseconds < to.getTime()
}

const atZone = (instant: Date, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(zone)

const dateOf = (local: Temporal.ZonedDateTime) => new Date(local.epochMilliseconds)

const startOfDay = (date: Temporal.PlainDate, zone: string) => dateOf(date.toZonedDateTime({ timeZone: zone }))
