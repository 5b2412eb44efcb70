import { Temporal } from 'temporal-polyfill'
import type { Facts } from './facts.ts'
import {
  defineSelector,
  faultOf,
  isObject,
  objectSchema,
  oncePerFacts,
  type Reading,
  strayKey,
  type ValueForm,
} from './selector.ts'

/**
 * A weekly window on the wall clock of a zone: from `from` (included) to `to` (excluded) on each of `days`. When `from` is
 * later than `to`, the window runs past midnight and belongs to the day on which it began: `fri 22:00 to 06:00` ends on
 * Saturday morning. `24:00` as `to` is the end of the day. Changes of the clock are those of the zone.
 */
type Window = { timezone: string; days: string[]; fromMinutes: number; toMinutes: number }

const weekdays: readonly string[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

const clockPattern = '([01][0-9]|2[0-3]):[0-5][0-9]'
const zonePattern = '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$'

const weeklyWindow: ValueForm<Window> = {
  read: readWindow,
  operators: [],
  schema: objectSchema({
    timezone: { type: 'string', pattern: zonePattern, description: 'A zone of the IANA database.' },
    days: { type: 'array', items: { enum: weekdays }, minItems: 1, uniqueItems: true },
    from: { type: 'string', pattern: `^${clockPattern}$`, description: 'The first minute of the window.' },
    to: {
      type: 'string',
      pattern: `^(${clockPattern}|24:00)$`,
      description: 'The end of the window; if it is before `from`, the window ends on the next day.',
    },
  }),
}

export const time = defineSelector(weeklyWindow, ({ timezone, days, fromMinutes, toMinutes }, facts) => {
  const { minutes, today, yesterday, observed } = wallClockOf(facts, timezone)
  const matched =
    fromMinutes < toMinutes
      ? days.includes(today) && fromMinutes <= minutes && minutes < toMinutes
      : (days.includes(today) && fromMinutes <= minutes) || (days.includes(yesterday) && minutes < toMinutes)
  return { matched, observed }
})

type WallClock = { minutes: number; today: string; yesterday: string; observed: string }

/** The local times of one decision by zone: many policies use few zones, and a zone is costly to compute. */
const clocksOf = oncePerFacts(() => new Map<string, WallClock>())

function wallClockOf(facts: Facts, timezone: string): WallClock {
  const clocks = clocksOf(facts)
  const known = clocks.get(timezone)
  if (known !== undefined) return known
  const local = Temporal.Instant.fromEpochMilliseconds(facts.now.getTime()).toZonedDateTimeISO(timezone)
  const clock = {
    minutes: local.hour * 60 + local.minute,
    today: weekdays[local.dayOfWeek - 1]!,
    yesterday: weekdays[(local.dayOfWeek + 5) % 7]!,
    observed: local.toString({ smallestUnit: 'minute' }),
  }
  clocks.set(timezone, clock)
  return clock
}

function readWindow(value: unknown): Reading<Window> {
  if (!isObject(value)) return faultOf('must be {timezone, days, from, to}')
  const stray = strayKey(value, ['timezone', 'days', 'from', 'to'])
  if (stray !== null) return faultOf('does not belong to {timezone, days, from, to}', stray)
  const { timezone, days, from, to } = value
  if (typeof timezone !== 'string' || !isZone(timezone)) {
    return faultOf('must be a zone of the IANA database, such as "Europe/Berlin"', 'timezone')
  }
  if (!Array.isArray(days) || days.length === 0 || new Set(days).size !== days.length || !days.every(isWeekday)) {
    return faultOf(`must name one or more of ${weekdays.join(', ')}, each once`, 'days')
  }
  const fromMinutes = readClock(from)
  if (fromMinutes === null || fromMinutes === 1440) return faultOf('must be a time from "00:00" to "23:59"', 'from')
  const toMinutes = readClock(to)
  if (toMinutes === null) return faultOf('must be a time from "00:00" to "24:00"', 'to')
  if (fromMinutes === toMinutes) return faultOf('must differ from `from`; a whole day is "00:00" to "24:00"', 'to')
  return { value: { timezone, days, fromMinutes, toMinutes } }
}

function isWeekday(value: unknown): value is string {
  return typeof value === 'string' && weekdays.includes(value)
}

const zoneForm = new RegExp(zonePattern)
const clockForm = new RegExp(`^${clockPattern}$`)

/** The names that were found to be zones. */
const knownZones = new Set<string>()
const zonesMax = 1_000

/** An offset such as `+02:00` is not a zone, because it has no daylight saving time. */
function isZone(text: string): boolean {
  if (knownZones.has(text)) return true
  if (!zoneForm.test(text)) return false
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text)
    if (knownZones.size < zonesMax) knownZones.add(text)
    return true
  } catch {
    return false
  }
}

/** Minutes since midnight; 1440 for "24:00"; null for anything else. */
function readClock(text: unknown): number | null {
  if (text === '24:00') return 1440
  if (typeof text !== 'string' || !clockForm.test(text)) return null
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
}
