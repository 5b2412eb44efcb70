import { createRequire } from 'node:module'
import { Face, remember, type Shown } from './pdf-font.ts'
import {
  type EastAsian,
  type Family,
  familiesFor,
  fontFiles,
  hasRightToLeft,
  isMark,
  isPlain,
  languageOf,
  type Weight,
} from './pdf-scripts.ts'

/** The widths of printable text at size 1. */
export type Widths = {
  /** The width of each UTF-16 unit that is drawn in the font of all pages, behind the unit before it; NaN for any other. */
  units: Float64Array
  /** Returns the width of text that has such units. */
  shaped(printable: string): number
}

/** A part of a line in one font and in one direction. */
export type Piece = Shown & { face: Face }
type Run = { face: Face; level: number; text: string }

const require = createRequire(import.meta.url)
// Its types describe another kind of module than its file is.
const createBidi: typeof import('bidi-js')['default'] = require('bidi-js')
const bidi = createBidi()
const [leftToRightMark, rightToLeftMark, isolateStart, isolateEnd] = ['\u200e', '\u200f', '\u2068', '\u2069']
const directions = new Set([leftToRightMark, rightToLeftMark, isolateStart, isolateEnd])
const weights = ['regular', 'bold'] as const
const spaces = new Set(['\t', '\n', '\r', '\u00a0'])
/** The number of marks on a letter. More would be drawn over the lines above and below. */
const marksMax = 3

/** Returns printable text whose direction neither follows from the text beside it nor affects it. */
export function isolate(printable: string): string {
  return hasRightToLeft(printable) ? `${isolateStart}${printable}${isolateEnd}` : printable
}

/** Returns printable text whose parts follow each other from left to right, whatever its first letter is. */
export function fromLeft(printable: string): string {
  return hasRightToLeft(printable) ? leftToRightMark + printable : printable
}

/** Returns the mark that gives further lines the direction of the text from which they are broken. */
export function directionOf(printable: string): string {
  if (!hasRightToLeft(printable)) return ''
  const isRight = bidi.getEmbeddingLevels(printable).paragraphs[0]!.level === 1
  return isRight ? rightToLeftMark : leftToRightMark
}

/** Returns printable text without the marks that only order it. */
export const stripDirections = (printable: string) =>
  Array.from(printable)
    .filter((character) => !directions.has(character))
    .join('')

/** Measures and draws the texts of one document in the fonts that have their characters. */
export class Typesetter {
  readonly widths: Record<Weight, Widths>
  readonly #pdf: PDFKit.PDFDocument
  readonly #faces = new Map<string, Face>()
  readonly #drawn: Record<Weight, string[]> = { regular: [], bold: [] }
  readonly #families = new Map<string, Family | undefined>()

  constructor(pdf: PDFKit.PDFDocument) {
    this.#pdf = pdf
    const widthsOf = (weight: Weight): Widths => ({
      units: new Float64Array(0x10000).fill(Number.NaN),
      shaped: remember((text) => this.lay(text, weight).reduce((sum, { width }) => sum + width, 0)),
    })
    this.widths = { regular: widthsOf('regular'), bold: widthsOf('bold') }
    for (let unit = 0x20; unit < 0x7f; unit += 1) this.#measure(unit)
  }

  face(family: Family, weight: Weight): Face {
    const file = fontFiles[family][weight]
    const known = this.#faces.get(file)
    if (known !== undefined) return known
    const face = new Face(this.#pdf, require.resolve(file))
    this.#faces.set(file, face)
    return face
  }

  /**
   * Returns text as it is drawn: a character that the fonts lack, or that a reader could not see, is written as `\u{20ae}`, never
   * dropped or replaced, so that the reader can see which character it is.
   */
  printable = (text: string): string => {
    if (/^[\x20-\x5B\x5D-\x7E]*$/.test(text)) return text
    let printable = ''
    let marks = 0
    // The backslash of text that looks like an escape is escaped itself, so that the two differ.
    const marked = text.replace(/\\(?=u\{)/g, spellOut(0x5c)).replaceAll('\r\n', '\n')
    for (const character of marked.normalize('NFC')) {
      const point = character.codePointAt(0)!
      if (!isMark(character)) marks = 0
      else marks = hasRightToLeft(printable.slice(-1)) || marks > 0 ? marks + 1 : marksMax + 1
      if ((point >= 0x20 && point < 0x7f) || (marks <= marksMax && this.#isDrawable(character))) printable += character
      else if (spaces.has(character)) printable += ' '
      else {
        printable += spellOut(point)
        marks = 0
      }
    }
    return printable
  }

  /** Returns printable text as the content of a literal string in the font of all pages; null if it needs another font or order. */
  encode(printable: string, weight: Weight): string | null {
    const drawn = this.#drawn[weight]
    let encoded = ''
    for (let i = 0; i < printable.length; i += 1) {
      const unit = printable.charCodeAt(i)
      let code = drawn[unit]
      if (code === undefined) {
        const face = this.face('alphabets', weight)
        if (unit !== 0x20 && !(isPlain(printable[i]!) && face.has(unit))) return null
        code = face.encode(unit)
        drawn[unit] = code
      }
      encoded += code
    }
    return encoded
  }

  /** Returns the pieces of a line from left to right. */
  lay(printable: string, weight: Weight): Piece[] {
    return inVisualOrder(this.#runsOf(printable, weight)).map(({ face, level, text }) => ({
      face,
      ...(level % 2 === 1 ? face.shape(text) : face.show(text)),
    }))
  }

  #runsOf(printable: string, weight: Weight): Run[] {
    const embedding = bidi.getEmbeddingLevels(printable)
    const mirrored = bidi.getMirroredCharactersMap(printable, embedding.levels)
    const language = languageOf(printable)
    const runs: Run[] = []
    let next = 0
    for (const character of printable) {
      const at = next
      next += character.length
      if (directions.has(character)) continue
      const face = this.face(this.#familyOf(character, language) ?? 'alphabets', weight)
      const level = embedding.levels[at]!
      const last = runs.at(-1)
      const text = mirrored.get(at) ?? character
      if (last?.face === face && last.level === level) last.text += text
      else runs.push({ face, level, text })
    }
    return runs
  }

  /** Returns the first font that has a character; undefined if none has it. Both weights of a font have the same characters. */
  #familyOf(character: string, language: EastAsian): Family | undefined {
    if (character === ' ') return 'alphabets'
    const key = character + language
    if (this.#families.has(key)) return this.#families.get(key)
    const point = character.codePointAt(0)!
    const family = familiesFor(character, language).find((name) => this.face(name, 'regular').has(point))
    this.#families.set(key, family)
    return family
  }

  #isDrawable(character: string): boolean {
    const family = this.#familyOf(character, languageOf(character))
    if (family === 'alphabets' && isPlain(character)) this.#measure(character.charCodeAt(0))
    return family !== undefined
  }

  #measure(unit: number): void {
    for (const weight of weights) {
      const { units } = this.widths[weight]
      if (Number.isNaN(units[unit])) units[unit] = this.face('alphabets', weight).width(unit)
    }
  }
}

/** Reverses the runs of each level, from the highest to the lowest odd one (rule L2 of UAX 9). */
function inVisualOrder(runs: Run[]): Run[] {
  const ordered = [...runs]
  const highest = Math.max(0, ...runs.map(({ level }) => level))
  for (let level = highest; level > 0; level -= 1) {
    for (let start = 0; start < ordered.length; start += 1) {
      let end = start
      while (end < ordered.length && ordered[end]!.level >= level) end += 1
      if (end > start) ordered.splice(start, end - start, ...ordered.slice(start, end).reverse())
      start = end
    }
  }
  return ordered
}

const spellOut = (point: number) => `\\u{${point.toString(16)}}`
