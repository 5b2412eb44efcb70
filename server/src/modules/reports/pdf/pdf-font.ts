import { readFileSync } from 'node:fs'

type Glyph = { id: number; advanceWidth: number; codePoints: number[] }

/** The fields of an embedded font of pdfkit that this file uses. */
type Embedded = {
  id: string
  font: {
    unitsPerEm: number
    hasGlyphForCodePoint(point: number): boolean
    glyphForCodePoint(point: number): Glyph
    layout(
      text: string,
      features: undefined,
      script: undefined,
      language: undefined,
      direction: 'rtl',
    ): { glyphs: Glyph[]; positions: { xAdvance: number; xOffset: number; yOffset: number }[] }
  }
  subset: { includeGlyph(id: number): number }
  unicode: number[][]
  widths: number[]
  scale: number
  ref(): unknown
}

/** Glyphs in the order in which they are drawn, from left to right: the operators that show them, and their width at size 1. */
export type Shown = { width: number; operators(size: number): string }

const rememberedMax = 5_000

/**
 * Returns a function that keeps its last answers: the layout of a word takes up to a millisecond, and the same names are measured
 * and drawn again and again.
 */
export function remember<Answer>(answer: (text: string) => Answer): (text: string) => Answer {
  const answers = new Map<string, Answer>()
  return (text) => {
    const known = answers.get(text)
    if (known !== undefined) return known
    if (answers.size === rememberedMax) answers.clear()
    const made = answer(text)
    answers.set(text, made)
    return made
  }
}

/**
 * A font in one document, which embeds only the glyphs that it draws. Text from left to right is drawn character by character,
 * without the layout engine of pdfkit, because a statement may have tens of millions of cells.
 */
export class Face {
  readonly #embedded: Embedded
  readonly #drawn = new Map<number, { code: string; width: number }>()

  constructor(pdf: PDFKit.PDFDocument, path: string) {
    pdf.font(readFileSync(path))
    this.#embedded = (pdf as unknown as { _font: Embedded })._font
  }

  /** The key and the reference under which a page names the font. */
  get name(): string {
    return this.#embedded.id
  }

  get reference(): PDFKit.PDFKitReference {
    return this.#embedded.ref() as PDFKit.PDFKitReference
  }

  has(point: number): boolean {
    return this.#embedded.font.hasGlyphForCodePoint(point)
  }

  /** Returns the width of the glyph of a character at size 1. */
  width(point: number): number {
    const { font } = this.#embedded
    return font.glyphForCodePoint(point).advanceWidth / font.unitsPerEm
  }

  /** Embeds the glyph of a character and returns it as a part of a literal string (ISO 32000-1, 7.3.4.2). */
  encode(point: number): string {
    return this.#include(this.#embedded.font.glyphForCodePoint(point), [point])
  }

  /** Shows text from left to right, a glyph for each character. */
  show(text: string): Shown {
    let codes = ''
    let width = 0
    for (const character of text) {
      const point = character.codePointAt(0)!
      let drawn = this.#drawn.get(point)
      if (drawn === undefined) {
        drawn = { code: this.encode(point), width: this.width(point) }
        this.#drawn.set(point, drawn)
      }
      codes += drawn.code
      width += drawn.width
    }
    return { width, operators: () => `(${codes}) Tj` }
  }

  /** Shows text from right to left, in which letters take their forms by their neighbours and marks stand at their letters. */
  readonly shape = remember((text): Shown => {
    const { font } = this.#embedded
    const { glyphs, positions } = font.layout(text, undefined, undefined, undefined, 'rtl')
    const thousandths = 1000 / font.unitsPerEm
    // The place where a glyph is due, and the place behind the glyphs that are drawn.
    let due = 0
    let pen = 0
    let rise = 0
    let parts: { rise: number; codes: string }[] = []
    for (const [i, glyph] of glyphs.entries()) {
      const { xAdvance, xOffset, yOffset } = positions[i]!
      if (yOffset !== rise || parts.length === 0) parts = [...parts, { rise: yOffset, codes: '' }]
      rise = yOffset
      const gap = Math.round((pen - due - xOffset) * thousandths)
      parts.at(-1)!.codes += `${gap === 0 ? '' : gap}(${this.#include(glyph, glyph.codePoints)})`
      pen = due + xOffset + glyph.advanceWidth
      due += xAdvance
    }
    return {
      width: due / font.unitsPerEm,
      operators: (size) =>
        parts
          .map(({ rise, codes }) => `${((rise / font.unitsPerEm) * size).toFixed(2)} Ts [${codes}] TJ`)
          .join(' ')
          .concat(' 0 Ts'),
    }
  })

  /** Embeds a glyph with its width and its characters, so that readers can copy and search the text. */
  #include(glyph: Glyph, points: number[]): string {
    const { subset, unicode, widths, scale } = this.#embedded
    const number = subset.includeGlyph(glyph.id)
    widths[number] ??= glyph.advanceWidth * scale
    unicode[number] ??= points
    return escapeByte(number >> 8) + escapeByte(number & 0xff)
  }
}

function escapeByte(byte: number): string {
  // A viewer would read an unescaped carriage return as a line feed.
  if (byte === 0x0d) return '\\r'
  const character = String.fromCharCode(byte)
  return '\\()'.includes(character) ? `\\${character}` : character
}
