import PDFDocument from 'pdfkit'
import type { Words } from '../documents/words.ts'
import type { Face } from './pdf-font.ts'
import { widthOf, wrap } from './pdf-layout.ts'
import { hasRightToLeft, type Weight } from './pdf-scripts.ts'
import { type GroupType, type LeafType, numberOf, Structure } from './pdf-structure.ts'
import { fromLeft, stripDirections, Typesetter, type Widths } from './typesetter.ts'

type Look = { font?: Weight; size: number; gray?: number }
/** Red, green and blue from 0 to 1. */
export type Color = readonly [number, number, number]

const margin = 40
/** The lowest position of the last line of a page, from the lower edge. */
const bottom = 52
const footerSize = 7
const footerLineHeight = 9
const footerGray = 0.35
const head = { size: 7, lineHeight: 9, gray: 0.35, linesMax: 3, above: 6, below: 13 }
/** The room for `of 1234567` behind the number of a page. */
const totalWidth = 40

/** The width between the margins of A4 landscape, in points of 1/72 inch. */
export const pageWidth = 841.89 - 2 * margin
const pageHeight = 595.28
export const leftEdge = margin

/** A reference to a page for other objects of the file. */
type Page = { id: number; gen: number }
type Internals = { _root: { data: { Pages: { data: { Kids: Page[] } } } } }

type Options = {
  title: string
  /** The head of every page but the first, which holds all of it and more. */
  pageHead: string[]
  footer: string
  words: Words
  createdAt: Date
  /** False leaves the pages readable, for tests. */
  isCompressed: boolean
}

/**
 * Writes a PDF page by page: drawing affects the current page, and a finished page is written and released. Texts must be
 * printable. They are drawn by operators of our own: pdfkit's text layout costs ten times as much, and a statement may
 * have tens of millions of cells.
 */
export class Pages {
  readonly widths: Record<Weight, Widths>
  readonly printable: (text: string) => string
  readonly words: Words
  readonly #pdf: PDFKit.PDFDocument
  readonly #typesetter: Typesetter
  readonly #structure: Structure
  readonly #title: string
  readonly #headLines: string[]
  readonly #footer: string
  // Its text is drawn at the end, when it is known, and every page shows it by reference.
  readonly #total: PDFKit.PDFKitReference
  readonly #totalFonts: Record<string, unknown> = {}
  #count = 0
  #content = ''
  #isPlain = false
  #y = margin

  constructor({ title, pageHead, footer, words, createdAt, isCompressed }: Options) {
    this.words = words
    this.#pdf = new PDFDocument({
      autoFirstPage: false,
      size: 'A4',
      margin,
      pdfVersion: '1.7',
      lang: words.language,
      displayTitle: true,
      tagged: true,
      compress: isCompressed,
      info: { Title: title, Creator: 'Strongroom', Producer: 'Strongroom', CreationDate: createdAt },
    })
    this.#total = this.#pdf.ref({
      Type: 'XObject',
      Subtype: 'Form',
      BBox: [0, -2, totalWidth, footerSize],
      Resources: { Font: this.#totalFonts },
    })
    this.#typesetter = new Typesetter(this.#pdf)
    this.#structure = new Structure(this.#pdf)
    this.widths = this.#typesetter.widths
    this.printable = this.#typesetter.printable
    this.#title = this.printable(title)
    this.#footer = this.printable(footer)
    this.#headLines = pageHead
      .map((line) => fromLeft(this.printable(line)))
      .flatMap((line) => shorten(wrap(line, this.widths.regular, head.size, pageWidth), words))
  }

  /** Finishes the current page and begins the next. */
  add(): void {
    this.#leave()
    const left = this.#count === 0 ? null : (this.#pdf.page.dictionary as unknown as Page)
    this.#pdf.addPage({ size: 'A4', layout: 'landscape', margin })
    if (left !== null) forget(this.#pdf, left)
    for (const weight of ['regular', 'bold'] as const) this.#use(this.#typesetter.face('alphabets', weight))
    this.#pdf.page.xobjects.Total = this.#total
    this.#structure.enterPage()
    this.#count += 1
    this.#y = margin
    if (this.#count > 1) this.#drawHead()
    this.#drawFooter()
    this.#content += this.#structure.resume()
  }

  /** Draws the content of an element of the structure. */
  element(type: LeafType, draw: () => void, attributes: Record<string, unknown> = {}): void {
    if (!this.#isPlain) this.#content += this.#structure.open(type, attributes)
    draw()
    if (!this.#isPlain) this.#content += this.#structure.close()
  }

  openGroup(type: GroupType): void {
    this.#structure.openGroup(type)
  }

  closeGroup(): void {
    this.#structure.closeGroup()
  }

  /** Draws a row: its cells are elements, up to a number of rows. */
  row(type: GroupType, draw: () => void): void {
    if (this.#isPlain) draw()
    else if (this.#structure.countRow()) {
      this.#structure.openGroup(type)
      draw()
      this.#structure.closeGroup()
    } else {
      this.#content += this.#structure.rest()
      this.#drawPlain(draw)
    }
  }

  /** Draws what an element before has said, such as a header on a further page. */
  repeat(draw: () => void): void {
    this.#content += this.#structure.close()
    this.#drawPlain(draw)
  }

  #drawPlain(draw: () => void): void {
    this.#isPlain = true
    draw()
    this.#isPlain = false
  }

  /** Draws one line; `lineY` is its baseline. */
  text(x: number, lineY: number, printable: string, { font = 'regular', size, gray = 0 }: Look): void {
    const encoded = this.#typesetter.encode(printable, font)
    if (encoded !== null) {
      const { name } = this.#typesetter.face('alphabets', font)
      this.#draw(`BT /${name} ${size} Tf ${gray} g 1 0 0 -1 ${x.toFixed(2)} ${lineY.toFixed(2)} Tm (${encoded}) Tj ET`)
      return
    }
    let pieceX = x
    const pieces: string[] = []
    for (const { face, width, operators } of this.#typesetter.lay(printable, font)) {
      this.#use(face)
      const place = `1 0 0 -1 ${pieceX.toFixed(2)} ${lineY.toFixed(2)} Tm`
      pieces.push(`BT /${face.name} ${size} Tf ${gray} g ${place} ${operators(size)} ET`)
      pieceX += width * size
    }
    const drawn = pieces.join(' ')
    this.#draw(hasRightToLeft(printable) ? readAs(printable, drawn) : drawn)
  }

  rule(x: number, lineY: number, length: number, shade: number | Color, width = 0.5): void {
    const ends = [x, x + length].map((end) => [end, lineY] as const)
    this.line(ends, typeof shade === 'number' ? [shade, shade, shade] : shade, width)
  }

  /** Draws a line through all of the points. */
  line(points: readonly (readonly [x: number, y: number])[], color: Color, width: number): void {
    const path = points.map(([x, y], i) => `${x.toFixed(2)} ${y.toFixed(2)} ${i === 0 ? 'm' : 'l'}`)
    this.#draw(`${color.join(' ')} RG ${width} w ${path.join(' ')} S`)
  }

  /** Draws a filled rectangle behind later drawings. */
  fill(x: number, top: number, length: number, height: number, color: Color): void {
    const box = [x, top, length, height].map((number) => number.toFixed(2)).join(' ')
    this.#draw(`${color.join(' ')} rg ${box} re f`)
  }

  width(printable: string, { font = 'regular', size }: Look): number {
    return widthOf(printable, this.widths[font], size)
  }

  /** Returns the height that remains on the page below the current position. */
  room(): number {
    return pageHeight - bottom - this.#y
  }

  /** Returns the height of a new page below its head. */
  roomOfPage(): number {
    return pageHeight - bottom - (margin - head.above + this.#headLines.length * head.lineHeight + head.below)
  }

  y(): number {
    return this.#y
  }

  moveDown(by: number): void {
    this.#y += by
  }

  /** Yields the bytes that are ready. */
  *take(): Generator<Uint8Array> {
    for (let bytes = this.#pdf.read(); bytes !== null; bytes = this.#pdf.read()) yield bytes as Uint8Array
  }

  /** Completes the document, with a second line in the foot of the last page. */
  end(lastLine: string): void {
    const look = { size: footerSize, gray: footerGray }
    this.element('P', () => this.text(leftEdge, footerY + footerLineHeight, this.printable(lastLine), look))
    this.#leave()
    const { name, reference } = this.#typesetter.face('alphabets', 'regular')
    this.#totalFonts[name] = reference
    const total = this.#typesetter.encode(this.words.text('ofPages', { count: this.#count }), 'regular')
    this.#total.end(`BT /${name} ${footerSize} Tf ${footerGray} g (${total}) Tj ET`)
    this.#structure.end()
    this.#pdf.end()
  }

  #use(face: Face): void {
    this.#pdf.page.fonts[face.name] = face.reference
  }

  /** Collects the content of a page, which is written when it is finished: as one piece of bytes instead of one for every cell. */
  #draw(operators: string): void {
    this.#content += `${this.#structure.artifact()}${operators}\n`
  }

  #leave(): void {
    if (this.#count === 0) return
    this.#pdf.addContent(this.#content + this.#structure.leavePage())
    this.#content = ''
  }

  #drawHead(): void {
    this.#y = margin - head.above
    this.text(leftEdge, this.#y, this.#title, { font: 'bold', size: head.size })
    for (const line of this.#headLines) {
      this.#y += head.lineHeight
      this.text(leftEdge, this.#y, line, { size: head.size, gray: head.gray })
    }
    this.#y += 5
    this.rule(leftEdge, this.#y, pageWidth, 0.8)
    this.#y += head.below - 5
  }

  #drawFooter(): void {
    const look = { size: footerSize, gray: footerGray }
    this.rule(leftEdge, footerY - 10, pageWidth, 0.8)
    const number = this.words.text('page', { number: this.#count })
    this.text(leftEdge, footerY, number, look)
    const totalX = (leftEdge + this.width(number, look)).toFixed(2)
    this.#draw(`q 1 0 0 -1 ${totalX} ${footerY.toFixed(2)} cm /Total Do Q`)
    this.text(leftEdge + pageWidth - this.width(this.#footer, look), footerY, this.#footer, look)
  }
}

/** Gives drawings the text that readers of the file copy and read aloud in their place, in its stored order (ISO 32000-1, 14.9.4). */
function readAs(printable: string, drawn: string): string {
  const text = Buffer.from(stripDirections(printable), 'utf16le').swap16().toString('hex')
  return `/Span <</ActualText <feff${text}>>> BDC ${drawn} EMC`
}

const footerY = pageHeight - bottom + 22

/**
 * Releases a finished page. pdfkit holds every page until the end, only to list them by their numbers; there may be tens of
 * thousands.
 */
function forget(pdf: PDFKit.PDFDocument, left: Page): void {
  const { Kids: pages } = (pdf as unknown as Internals)._root.data.Pages.data
  pages[pages.length - 2] = numberOf(left)
}

/** Shortens a head that is too high for the page by an ellipsis; the first page holds all of it as facts. */
function shorten(lines: string[], words: Words): string[] {
  if (lines.length <= head.linesMax) return lines
  const shown = lines.slice(0, head.linesMax)
  return [...shown.slice(0, -1), `${shown.at(-1)!.slice(0, -30)}${words.text('allOnPageOne')}`]
}
