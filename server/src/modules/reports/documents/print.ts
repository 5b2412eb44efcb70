import { type Cell, type Column, isNumeric, isPlainNumber } from './document.ts'
import type { Language, Words } from './words.ts'
import type { ZonedTime } from './zoned-time.ts'

/** The text for a missing value, so that an empty place is not mistaken for a printing error. */
export const absent = '–'

/** Returns the value of a cell for readers: digits in groups of three, times on the clocks of the zone, words for codes. */
export function printCell(
  value: Cell,
  { kind, wording }: Pick<Column, 'kind' | 'wording'>,
  time: ZonedTime,
  words: Words,
): string {
  if (value === null || value === '') return absent
  if (kind === 'timestamp') return printTime(String(value), time, words.language)
  if (wording === 'code') return String(value).split('; ').map(words.code).join('; ')
  if (wording === 'sentence') {
    return words.sentence(String(value), (instant) => printTime(instant, time, words.language))
  }
  if (!isNumeric(kind)) return String(value)
  const number = groupDigits(String(value), words.language)
  return kind === 'percent' ? `${number} %` : number
}

/** Returns `2026-01-31 09:30:00 +01:00`, in German `31.01.2026 09:30:00 +01:00`. */
export function printTime(instant: string | Date, time: ZonedTime, language: Language): string {
  const text = time.print(instant)
  return language === 'de' ? text.replace(/^(\d+)-(\d\d)-(\d\d)/, '$3.$2.$1') : text
}

const separators: Record<Language, { group: string; point: string }> = {
  en: { group: ',', point: '.' },
  de: { group: '.', point: ',' },
}

/** Returns `-1,234,567.8912` for `-1234567.8912`; a text that is not a plain number stays as it is. */
export function groupDigits(number: string, language: Language): string {
  if (!isPlainNumber(number)) return number
  const { group, point } = separators[language]
  const [whole, fraction] = number.split('.')
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, group)
  return fraction === undefined ? grouped : `${grouped}${point}${fraction}`
}

const numbers: Record<Language, RegExp> = {
  en: /^(-?[\d,]+)(\.\d+(?: %)?| %)$/,
  de: /^(-?[\d.]+)(,\d+(?: %)?| %)$/,
}

/** Splits a printed number at its decimal point. A text that is not a number has an empty second part. */
export function splitNumber(text: string, language: Language): [before: string, after: string] {
  const found = numbers[language].exec(text)
  return found === null ? [text, ''] : [found[1]!, found[2]!]
}
