import { type Cell, type ColumnKind, isNumeric, isPlainNumber } from './document.ts'
import type { ZonedTime } from './zoned-time.ts'

/** The text for a missing value, so that an empty place is not mistaken for a printing error. */
export const absent = '–'

/** Returns the value of a cell for readers: digits in groups of three, times on the clocks of the zone. */
export function printCell(value: Cell, kind: ColumnKind, time: ZonedTime): string {
  if (value === null || value === '') return absent
  if (kind === 'timestamp') return time.print(String(value))
  if (!isNumeric(kind)) return String(value)
  const number = groupDigits(String(value))
  return kind === 'percent' ? `${number} %` : number
}

/** Returns `-1,234,567.8912` for `-1234567.8912`; a text that is no plain number stays as it is. */
export function groupDigits(number: string): string {
  if (!isPlainNumber(number)) return number
  const [whole, fraction] = number.split('.')
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** Splits a printed number at its decimal point. A text that is no number has an empty second part. */
export function splitNumber(text: string): [before: string, after: string] {
  const found = /^(-?[\d,]+)(\.\d+(?: %)?| %)$/.exec(text)
  return found === null ? [text, ''] : [found[1]!, found[2]!]
}
