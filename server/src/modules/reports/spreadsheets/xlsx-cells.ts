import { type Cell, type Column, isNumeric, isPlainNumber } from '../documents/document.ts'
import type { ZonedTime } from '../documents/zoned-time.ts'

/** Cells of a sheet as XML (ECMA-376). */

/** The maximum length of a text in UTF-16 units, as Excel counts them. */
const cellLengthMax = 32_767
/** The number of digits that programs show and keep of a number in a sheet, which is a double. */
const digitsMax = 15
/** The maximum number of decimals of a number that is not written as text. */
const decimalsMax = 30
const dayMilliseconds = 86_400_000
/** The days from 1899-12-30, the zero of dates in a sheet, to 1970-01-01. Excel counts a day before March 1900 that did not exist. */
const daysBefore1970 = 25_569
const firstDay = 61

/** The formats of cells by their position in `stylesXml`. */
export const style = {
  number: 0,
  text: 1,
  header: 2,
  percent: 3,
  title: 4,
  time: 5,
  longNumber: 6,
  amount: 7,
  usd: 8,
} as const

/** Returns true if a double holds the plain number so that every program shows all of its digits. */
function isExactInSheet(number: string): boolean {
  const [whole, fraction = ''] = number.replace('-', '').split('.')
  const digits = `${whole}${fraction}`.replace(/^0+/, '').replace(/0+$/, '')
  return digits.length <= digitsMax && fraction.length <= decimalsMax
}

/** A column of a sheet. `isExact` marks the text beside a column of amounts, which has every digit. */
export type SheetColumn = Column & { isExact?: boolean }

/** Returns the columns of a sheet: an amount is a number, which can be summed up, and beside it a text with every digit. */
export function sheetColumnsOf(columns: readonly Column[]): SheetColumn[] {
  return columns.flatMap((column): SheetColumn[] =>
    column.kind === 'amount' ? [column, { ...column, label: `${column.label}, exact`, isExact: true }] : [column],
  )
}

/**
 * Returns true if the value of a numeric column is written as text, because a number would lose digits. An amount never is: the
 * column beside it has its digits.
 */
export function isLongNumber(value: Cell, { kind }: Column): boolean {
  const isChecked = isNumeric(kind) && kind !== 'amount'
  return typeof value === 'string' && isChecked && isPlainNumber(value) && !isExactInSheet(value)
}

export function toCell(place: string, value: Cell, { kind, isExact }: SheetColumn, time: ZonedTime): string {
  if (value === null || value === '') return ''
  if (isExact === true) return textCell(place, String(value), style.longNumber)
  if (kind === 'timestamp') return timeCell(place, String(value), time)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Error(`A report holds ${value}, which no sheet can show`)
    return numberCell(place, String(value), kind === 'percent' ? style.percent : style.number)
  }
  if (kind === 'text' || !isPlainNumber(value)) return textCell(place, value)
  if (kind === 'amount') return numberCell(place, String(Number(value)), style.amount)
  if (!isExactInSheet(value)) return textCell(place, value, style.longNumber)
  return numberCell(place, value, kind === 'usd' ? style.usd : style.number)
}

const numberCell = (place: string, number: string, format: number) =>
  `<c r="${place}" s="${format}"><v>${number}</v></c>`

/** Returns a date on the clocks of the zone, because sheets have no zones. */
function timeCell(place: string, instant: string, time: ZonedTime): string {
  const serial = time.wallMilliseconds(instant) / dayMilliseconds + daysBefore1970
  return serial >= firstDay ? numberCell(place, String(serial), style.time) : textCell(place, time.print(instant))
}

export function textCell(place: string, text: string, format: number = style.text): string {
  return `<c r="${place}" s="${format}" t="inlineStr"><is><t xml:space="preserve">${escapeText(shorten(text))}</t></is></c>`
}

function shorten(text: string): string {
  return text.length > cellLengthMax ? `${text.slice(0, cellLengthMax - 1)}…` : text
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Escapes characters that XML cannot hold as `_xHHHH_` (ECMA-376, ST_Xstring), and text that looks like such an escape. */
export function escapeText(text: string): string {
  if (!/[^\x20-\x7E\xA0-\uD7FF]|[&<>]|_x/.test(text)) return text
  return text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[&<>]/g, (character) => entities[character]!)
    .replace(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters.
      /[\x00-\x08\x0B-\x1F\uFFFE\uFFFF]/g,
      (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    )
}

const knownLetters: string[] = []

/** Returns the letters of a column by its position from zero: A … Z, AA … */
export function letters(index: number): string {
  const known = knownLetters[index]
  if (known !== undefined) return known
  const made = (index < 26 ? '' : letters(Math.floor(index / 26) - 1)) + String.fromCharCode(65 + (index % 26))
  knownLetters[index] = made
  return made
}
