import { Temporal } from 'temporal-polyfill'

/** Shows instants on the clocks of one zone. */
export type ZonedTime = {
  zone: string
  /** Returns `2026-01-31 09:30:00 +01:00`; without the offset in UTC. */
  print(instant: string | Date): string
  /** Returns `2026-01-31T09:30:00.000+01:00`, in UTC with `Z`: the instant, on the clocks of the zone. */
  iso(instant: string | Date): string
  /** Returns the milliseconds since 1970-01-01 00:00 on the clocks of the zone. */
  wallMilliseconds(instant: string | Date): number
}

/** A zone changes its clocks only at a multiple of this, so an offset found once holds for the whole interval. */
const quarterHour = 900_000

export function createZonedTime(zone: string): ZonedTime {
  let knownQuarter = Number.NaN
  let knownOffset = 0

  /** Returns the offset in milliseconds. Rows come in order of time, so the offset of a row is mostly that of the row before. */
  function offsetAt(milliseconds: number): number {
    const quarter = Math.floor(milliseconds / quarterHour)
    if (quarter === knownQuarter) return knownOffset
    const local = Temporal.Instant.fromEpochMilliseconds(milliseconds).toZonedDateTimeISO(zone)
    knownQuarter = quarter
    knownOffset = local.offsetNanoseconds / 1_000_000
    return knownOffset
  }

  return {
    zone,
    print(instant) {
      const milliseconds = new Date(instant).getTime()
      const offset = offsetAt(milliseconds)
      const local = new Date(milliseconds + offset).toISOString().slice(0, 19).replace('T', ' ')
      return zone === 'UTC' ? local : `${local} ${toOffset(offset)}`
    },
    iso(instant) {
      const milliseconds = new Date(instant).getTime()
      const offset = offsetAt(milliseconds)
      const local = new Date(milliseconds + offset).toISOString()
      return zone === 'UTC' ? local : local.replace('Z', toOffset(offset))
    },
    wallMilliseconds(instant) {
      const milliseconds = new Date(instant).getTime()
      return milliseconds + offsetAt(milliseconds)
    },
  }
}

/** Returns an offset such as `+05:30`. */
function toOffset(milliseconds: number): string {
  const minutes = Math.round(Math.abs(milliseconds) / 60_000)
  const two = (number: number) => String(number).padStart(2, '0')
  return `${milliseconds < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
