import { badRequest } from './errors.ts'

const timestampForm = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)$/
const dayMilliseconds = 86_400_000

/** The bounds of a period. Both are inclusive and exact to the millisecond, like the compared timestamps. */
export type Bounds = { from: Date | null; to: Date | null }

/**
 * Reads the bounds of a list: ISO 8601 timestamps with a zone, or days (YYYY-MM-DD, UTC). A day as `to` includes the
 * whole day (contract 1.2).
 * @throws 400 for a date that does not exist, or when `from` lies after `to`
 */
export function parseBounds(query: { from?: string; to?: string }): Bounds {
  const from = query.from === undefined ? null : parseBound('from', query.from)
  const to = query.to === undefined ? null : parseBound('to', query.to)
  if (from !== null && to !== null && from.getTime() > to.getTime()) throw badRequest('from', 'must not be after to')
  return { from, to }
}

/** Reads a day (YYYY-MM-DD) as its first instant in UTC. Returns null when there is no such day: 2026-02-30 does not roll over. */
export function parseDay(text: string): Date | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return null
  const day = new Date(`${text}T00:00:00.000Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text) ? day : null
}

/**
 * Reads a timestamp with a zone, cut to the millisecond. Returns null for any other text and for a day or time that does not
 * exist.
 */
export function parseTimestamp(text: string): Date | null {
  const match = timestampForm.exec(text)
  if (match === null) return null
  const [, day = '', hour = '', minute = '', second = '00', fraction = '', zone = 'Z'] = match
  const midnight = parseDay(day)
  if (midnight === null || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const offsetMinutes = parseOffset(zone)
  if (offsetMinutes === null) return null
  const seconds = (Number(hour) * 60 + Number(minute) - offsetMinutes) * 60 + Number(second)
  return new Date(midnight.getTime() + seconds * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3)))
}

function parseOffset(zone: string): number | null {
  if (zone === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(4, 6))
  if (hours > 23 || minutes > 59) return null
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

function parseBound(field: 'from' | 'to', text: string): Date {
  const day = parseDay(text)
  if (day !== null) return field === 'from' ? day : new Date(day.getTime() + dayMilliseconds - 1)
  const instant = parseTimestamp(text)
  if (instant === null) throw badRequest(field, 'must be an ISO 8601 timestamp with a zone, or a day as YYYY-MM-DD')
  // No stored time lies between two milliseconds, so a lower bound there begins at the next millisecond.
  const isBetween = field === 'from' && /\.\d{3}\d*[1-9]/.test(text)
  return isBetween ? new Date(instant.getTime() + 1) : instant
}

/** Formats a moment as mails and pages show it, such as `2026-01-31 09:30 UTC`. */
export function formatMinute(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
