import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** The weights of the font family of all pages. */
export type Weight = 'regular' | 'bold'

/** The width of a UTF-16 unit of printable text at size 1. */
export type Widths = Float64Array

/** The fields of an embedded font of pdfkit that this file uses. */
type Embedded = {
  id: string
  font: {
    unitsPerEm: number
    hasGlyphForCodePoint(point: number): boolean
    glyphForCodePoint(point: number): { id: number; advanceWidth: number; codePoints: number[] }
  }
  subset: { includeGlyph(id: number): number }
  unicode: number[][]
  widths: number[]
  scale: number
  ref(): unknown
}

const require = createRequire(import.meta.url)
const pathOf: Record<Weight, () => string> = {
  regular: () => require.resolve('@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf'),
  bold: () => require.resolve('@expo-google-fonts/arimo/700Bold/Arimo_700Bold.ttf'),
}
const loaded = new Map<Weight, Buffer>()

/** The bytes of a font, read when the first PDF is made. */
function load(weight: Weight): Buffer {
  const known = loaded.get(weight)
  if (known !== undefined) return known
  const bytes = readFileSync(pathOf[weight]())
  loaded.set(weight, bytes)
  return bytes
}

/**
 * A weight of the font in one document, which embeds only the glyphs that it draws. Glyphs are looked up by character, without the
 * layout engine of pdfkit, because a statement may have tens of millions of cells.
 */
export class Face {
  readonly widths: Widths = new Float64Array(0x10000)
  readonly #embedded: Embedded
  readonly #drawn: string[] = []

  constructor(pdf: PDFKit.PDFDocument, weight: Weight) {
    pdf.font(load(weight))
    this.#embedded = (pdf as unknown as { _font: Embedded })._font
    for (let unit = 0x20; unit < 0x7f; unit += 1) this.has(unit)
  }

  /** Returns the key and the reference under which a page names the font. */
  get resource(): [name: string, reference: unknown] {
    return [this.#embedded.id, this.#embedded.ref()]
  }

  get name(): string {
    return this.#embedded.id
  }

  /** Returns true if the font has a glyph for the character, and stores its width. */
  has(unit: number): boolean {
    const { font } = this.#embedded
    if (!font.hasGlyphForCodePoint(unit)) return false
    this.widths[unit] = font.glyphForCodePoint(unit).advanceWidth / font.unitsPerEm
    return true
  }

  /** Returns printable text as the content of a literal string (ISO 32000-1, 7.3.4.2). */
  encode(text: string): string {
    let encoded = ''
    for (let i = 0; i < text.length; i += 1) {
      const unit = text.charCodeAt(i)
      encoded += this.#drawn[unit] ?? this.#include(unit)
    }
    return encoded
  }

  /** Embeds the glyph with its width and its character, so that readers can copy and search the text. */
  #include(unit: number): string {
    const { font, subset, unicode, widths, scale } = this.#embedded
    const glyph = font.glyphForCodePoint(unit)
    const number = subset.includeGlyph(glyph.id)
    widths[number] ??= glyph.advanceWidth * scale
    unicode[number] ??= [unit]
    const encoded = escapeByte(number >> 8) + escapeByte(number & 0xff)
    this.#drawn[unit] = encoded
    return encoded
  }
}

function escapeByte(byte: number): string {
  // A viewer would read an unescaped carriage return as a line feed.
  if (byte === 0x0d) return '\\r'
  const character = String.fromCharCode(byte)
  return '\\()'.includes(character) ? `\\${character}` : character
}

/**
 * Characters of the alphabets that are written from left to right, one glyph after the other. It excludes marks without a
 * composed character, invisible characters, and characters that change the direction of other text.
 */
const isLegible = /^[\p{L}\p{N}\p{P}\p{S}]$/u
const alphabets = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}]$/u

/**
 * Returns a function for text as it is drawn: a character that the font lacks, or that a reader could not see, is written as
 * `\u{20ae}`, never dropped or replaced, so that the reader can see which character it is.
 */
export function createPrintable(faces: Record<Weight, Face>): (text: string) => string {
  const drawable = new Map<number, boolean>()

  function isDrawable(character: string, point: number): boolean {
    const known = drawable.get(point)
    if (known !== undefined) return known
    const isShown =
      point <= 0xffff &&
      isLegible.test(character) &&
      alphabets.test(character) &&
      // Both weights are checked, so that the width is known whichever draws it.
      [faces.regular, faces.bold].every((face) => face.has(point))
    drawable.set(point, isShown)
    return isShown
  }

  return (text) => {
    if (/^[\x20-\x5B\x5D-\x7E]*$/.test(text)) return text
    let printable = ''
    // The backslash of text that looks like an escape is escaped itself, so that the two differ.
    const marked = text.replace(/\\(?=u\{)/g, spellOut(0x5c)).replaceAll('\r\n', '\n')
    for (const character of marked.normalize('NFC')) {
      const point = character.codePointAt(0)!
      if ((point >= 0x20 && point < 0x7f) || isDrawable(character, point)) printable += character
      else printable += spaces.has(character) ? ' ' : spellOut(point)
    }
    return printable
  }
}

const spaces = new Set(['\t', '\n', '\r', '\u00a0'])
const spellOut = (point: number) => `\\u{${point.toString(16)}}`
