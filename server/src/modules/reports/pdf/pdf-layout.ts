import { type Column, type ColumnKind, isNumeric, type Row } from '../documents/document.ts'
import { splitNumber } from '../documents/print.ts'
import type { Language } from '../documents/words.ts'
import { directionOf, type Widths } from './typesetter.ts'

export function widthOf(text: string, widths: Widths, size: number): number {
  const { units } = widths
  let width = 0
  for (let i = 0; i < text.length; i += 1) width += units[text.charCodeAt(i)]!
  return (Number.isNaN(width) ? widths.shaped(text) : width) * size
}

/** Splits text into lines no wider than `width`, at spaces, and within a word only if the word is wider than a line. */
export function wrap(text: string, widths: Widths, size: number, width: number): string[] {
  // Widths are sums of fractions: text that was measured to fit must not fail by a rounding error.
  const room = width + 0.01
  if (widthOf(text, widths, size) <= room) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`
    if (widthOf(joined, widths, size) <= room) {
      line = joined
      continue
    }
    if (line !== '') lines.push(line)
    const pieces = breakWord(word, widths, size, room)
    line = pieces.pop()!
    lines.push(...pieces)
  }
  lines.push(line)
  const direction = directionOf(text)
  return lines.map((part, i) => (i === 0 ? part : direction + part))
}

/**
 * Returns the lines of the texts of a cell. A number that is wider than `width` is split at its decimal point, and then between
 * groups of digits, so that a group stays whole.
 */
export function wrapTexts(
  texts: readonly string[],
  kind: ColumnKind,
  { language, widths, size, width }: { language: Language; widths: Widths; size: number; width: number },
): string[] {
  return texts.flatMap((text) =>
    isNumeric(kind) ? wrapFigure(text, language, widths, size, width) : wrap(text, widths, size, width),
  )
}

function wrapFigure(text: string, language: Language, widths: Widths, size: number, width: number): string[] {
  if (widthOf(text, widths, size) <= width + 0.01) return [text]
  const lines: string[] = []
  for (const part of splitNumber(text, language).filter((piece) => piece !== '')) {
    let line = ''
    for (const group of part.split(/(?<=\d[.,])/)) {
      if (line !== '' && widthOf(line + group, widths, size) > width) {
        lines.push(line)
        line = ''
      }
      line += group
    }
    lines.push(...wrap(line, widths, size, width))
  }
  return lines
}

/** Breaks a word into pieces of at least one character, however narrow the line. */
function breakWord(word: string, widths: Widths, size: number, width: number): string[] {
  const pieces: string[] = []
  let start = 0
  let used = 0
  for (let i = 0; i < word.length; i += 1) {
    const glyphWidth = widths.units[word.charCodeAt(i)]! * size
    if (Number.isNaN(glyphWidth)) return breakShaped(word, widths, size, width)
    if (used + glyphWidth > width && i > start) {
      pieces.push(word.slice(start, i))
      start = i
      used = 0
    }
    used += glyphWidth
  }
  pieces.push(word.slice(start))
  return pieces
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Breaks a word of letters whose widths depend on their neighbours. A letter keeps its marks. */
function breakShaped(word: string, widths: Widths, size: number, width: number): string[] {
  const characters = Array.from(segmenter.segment(word), ({ segment }) => segment)
  const pieces: string[] = []
  for (let start = 0; start < characters.length; ) {
    // The most characters that fit, and the fewest that do not.
    let [fitting, excess] = [start + 1, characters.length + 1]
    while (excess - fitting > 1) {
      const middle = (fitting + excess) >> 1
      if (widthOf(characters.slice(start, middle).join(''), widths, size) <= width) fitting = middle
      else excess = middle
    }
    pieces.push(characters.slice(start, fitting).join(''))
    start = fitting
  }
  return pieces
}

/** Columns side by side or, when there are too many for a page, each row as a block of labelled values. */
type Layout = { kind: 'columns'; widths: number[] } | { kind: 'blocks' }

type Measured = Pick<Column, 'kind'> & { natural: number; header: number }

/** The width below which a text column is not narrowed for other columns. A column of numbers is never narrowed. */
const textWidthMin = 58
const timestampWidthMin = 46
const figuresWidthMax = 150
const textWidthMax = 210
/** The factor up to which columns with spare room are widened, so that rows stay readable. */
const widenMax = 1.6
/** The number of columns above which a single row is drawn as a block, which is easier to read. */
const singleRowColumnsMax = 4

/**
 * Chooses the layout of a table from the preferred widths of its first rows.
 *
 * @param whole the width between the margins of a page
 */
export function planLayout(columns: Measured[], whole: number, isSingleRow: boolean): Layout {
  if (isSingleRow && columns.length > singleRowColumnsMax) return { kind: 'blocks' }
  const wanted = columns.map(({ kind, natural, header }) =>
    Math.min(Math.max(natural, header), isNumeric(kind) ? figuresWidthMax : textWidthMax),
  )
  if (sum(wanted) <= whole) return { kind: 'columns', widths: widen(wanted, whole) }
  const least = columns.map(({ kind, header }, i) => {
    if (isNumeric(kind)) return wanted[i]!
    return Math.min(wanted[i]!, Math.max(header, kind === 'timestamp' ? timestampWidthMin : textWidthMin))
  })
  if (sum(least) > whole) return { kind: 'blocks' }
  return { kind: 'columns', widths: narrow(wanted, least, whole) }
}

/** Shrinks the widest columns first: all are cut to one width, as large as possible, but none below its minimum. */
function narrow(wanted: number[], least: number[], whole: number): number[] {
  const cutTo = (limit: number) => wanted.map((width, i) => Math.max(least[i]!, Math.min(width, limit)))
  let low = 0
  let high = Math.max(...wanted)
  while (high - low > 0.01) {
    const middle = (low + high) / 2
    if (sum(cutTo(middle)) > whole) high = middle
    else low = middle
  }
  return cutTo(low)
}

/** Distributes spare width to all columns in proportion, up to a bound. */
function widen(widths: number[], whole: number): number[] {
  const factor = Math.min(widenMax, whole / sum(widths))
  return widths.map((width) => width * factor)
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

/** Sizes of the text of a row. */
export const cell = { size: 7, lineHeight: 8.6, padX: 4, padY: 3 }

/** The texts of one printed column of a row, one for each of its values. */
export type Texts = (row: Row) => string[]

/** The layout of the rows of a table, below each other in columns or as blocks of labelled values. */
export type Drawing<Item> = {
  /** The element of the structure that has all rows. */
  group: 'Table' | 'Div'
  measure(row: Row): Item
  heightOf(item: Item): number
  headerHeight: number
  drawHeader(): void
  headingHeight: number
  drawHeading(printable: string): void
  /** Draws the part that fits on the page, at least one line, and returns the rest. */
  draw(item: Item): Item | null
}
