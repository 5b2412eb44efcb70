import type { PolicySelector } from './generated/api.ts'

/** Bounds are decimal strings, which are compared exactly. Both ends of `between` are included. */
export type Comparison =
  | { op: 'gt' | 'gte' | 'lt' | 'lte'; value: string }
  | { op: 'between'; min: string; max: string }

/** A value, or several values of which any matches. */
export type AnyOf<Value> = Value | Value[]

export type VelocityLimit = {
  op: 'gt' | 'gte' | 'lt' | 'lte'
  /** A decimal string; a whole number for `velocityCount`. */
  value: string
  /** 60 to 2592000, which is 30 days. */
  windowSeconds: number
  per: 'initiator' | 'sourceAddress' | 'destination' | 'vault'
}

/** From `from` to `to` on each of the days. A window that ends before it begins ends on the next day. */
export type TimeWindow = {
  /** A zone of the IANA database, such as `Europe/Berlin`. */
  timezone: string
  days: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[]
  /** `00:00` to `23:59` */
  from: string
  /** `00:00` to `24:00` */
  to: string
}

export type SelectorType = PolicySelector['selectorType']
