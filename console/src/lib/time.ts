import { formatter } from './formatter.ts'
import { t } from './language.ts'

/** The reader's time zone, as an IANA name. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Formats a time as day and minute in the reader's zone. */
export function formatTime(at: string): string {
  return formatter(Intl.DateTimeFormat, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at))
}

/** Formats a time with seconds and the zone, for a tooltip. */
export function formatTimeInFull(at: string): string {
  return formatter(Intl.DateTimeFormat, { dateStyle: 'full', timeStyle: 'long' }).format(new Date(at))
}

export function formatDay(at: string): string {
  return formatter(Intl.DateTimeFormat, { dateStyle: 'medium' }).format(new Date(at))
}

/** Formats a time relative to now if it is less than an hour ago, otherwise as day and minute. */
export function formatRecent(at: string, now: number = Date.now()): string {
  const minutes = Math.round((new Date(at).getTime() - now) / 60_000)
  if (Math.abs(minutes) >= 60) return formatTime(at)
  return formatter(Intl.RelativeTimeFormat, { numeric: 'auto' }).format(minutes, 'minute')
}

/** Formats the time since a moment in seconds under a minute, else like `formatRecent`. A moment in the future counts as now. */
export function formatAgo(at: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - new Date(at).getTime()) / 1_000))
  if (seconds >= 60) return formatRecent(at, now)
  return formatter(Intl.RelativeTimeFormat, { style: 'narrow' }).format(-seconds, 'second')
}

/** Formats the duration until a time in its two largest units: "2 days, 3 hours". */
export function formatTimeLeft(at: string, now: number = Date.now()): string {
  const minutes = Math.floor((new Date(at).getTime() - now) / 60_000)
  if (minutes <= 0) return t('time is up')
  const days = Math.floor(minutes / 1_440)
  const hours = Math.floor((minutes % 1_440) / 60)
  if (days > 0) return `${units(days, 'day')}, ${units(hours, 'hour')}`
  return hours > 0 ? `${units(hours, 'hour')}, ${units(minutes % 60, 'minute')}` : units(minutes, 'minute')
}

function units(count: number, unit: string): string {
  return formatter(Intl.NumberFormat, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
}

/** Formats a duration in its two largest units: "2 days, 3 hours". */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return units(whole, 'second')
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return units(minutes, 'minute')
  if (minutes < 1_440) return `${units(Math.floor(minutes / 60), 'hour')}, ${units(minutes % 60, 'minute')}`
  return `${units(Math.floor(minutes / 1_440), 'day')}, ${units(Math.floor((minutes % 1_440) / 60), 'hour')}`
}
