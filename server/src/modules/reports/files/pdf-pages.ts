import PDFDocument from 'pdfkit'
import { type Widths, wrap } from './pdf-layout.ts'
import { fromWinAnsi, toWinAnsi } from './win-ansi.ts'

export type Font = 'regular' | 'bold'
type Look = { font?: Font; size: number; gray?: number }

const margin = 40
/** The lowest position of the last line of a page, from the lower edge. */
const bottom = 52
const footerSize = 7
const footerGray = 0.35
const head = { size: 7, lineHeight: 9, gray: 0.35, linesMax: 3 }
/** Room for `of 1234567` behind the number of a page. */
const totalWidth = 40

/** Between the margins of A4 landscape, in points of 1/72 inch. */
export const pageWidth = 841.89 - 2 * margin
export const leftEdge = margin

/** A reference to a page for other objects of the file. */
type Page = { id: number; gen: number }
type Internals = { _root: { data: { Pages: { data: { Kids: Page[] } } } } }

type Options = {
  title: string
  /** Drawn at the top of every page but the first, which holds all of it and more. */
  pageHead: string[]
  footer: string
  createdAt: Date
  /** false leaves the pages readable, for tests. */
  isCompressed: boolean
}

type PageFont = { name: string; reference: unknown }

/**
 * Writes a PDF page by page: drawing affects the current page, and a finished page is written and released. Texts are in
 * WinAnsi. They are drawn by operators of our own: pdfkit's text layout costs ten times as much, and a statement may have
 * tens of millions of cells.
 */
export class Pages {
  readonly widths: Record<Font, Widths>
  readonly #pdf: PDFKit.PDFDocument
  readonly #title: string
  readonly #headLines: string[]
  readonly #footer: string
  // Its text is drawn at the end, when it is known, and every page shows it by reference.
  readonly #total: PDFKit.PDFKitReference
  readonly #totalFonts: Record<string, unknown> = {}
  #fonts: Record<Font, PageFont> | undefined
  #count = 0
  #content = ''
  #y = margin

  constructor({ title, pageHead, footer, createdAt, isCompressed }: Options) {
    this.#pdf = new PDFDocument({
      autoFirstPage: false,
      size: 'A4',
      margin,
      pdfVersion: '1.7',
      lang: 'en',
      displayTitle: true,
      compress: isCompressed,
      info: { Title: title, Creator: 'Strongroom', Producer: 'Strongroom', CreationDate: createdAt },
    })
    this.#total = this.#pdf.ref({
      Type: 'XObject',
      Subtype: 'Form',
      BBox: [0, -2, totalWidth, footerSize],
      Resources: { Font: this.#totalFonts },
    })
    this.#title = title
    this.#footer = footer
    this.widths = { regular: measure(this.#pdf, 'Helvetica'), bold: measure(this.#pdf, 'Helvetica-Bold') }
    this.#headLines = pageHead.flatMap((line) => shorten(wrap(line, this.widths.regular, head.size, pageWidth)))
  }

  /** Finishes the current page and begins the next. */
  add(): void {
    this.#leave()
    const left = this.#count === 0 ? null : (this.#pdf.page.dictionary as unknown as Page)
    this.#pdf.addPage({ size: 'A4', layout: 'landscape', margin })
    if (left !== null) forget(this.#pdf, left)
    this.#fonts ??= registerFonts(this.#pdf)
    for (const { name, reference } of Object.values(this.#fonts)) this.#pdf.page.fonts[name] = reference
    this.#pdf.page.xobjects.Total = this.#total
    this.#count += 1
    this.#y = margin
    if (this.#count > 1) this.#drawHead()
    this.#drawFooter()
  }

  /** Draws one line; `lineY` is its baseline. */
  text(x: number, lineY: number, encoded: string, { font = 'regular', size, gray = 0 }: Look): void {
    const { name } = this.#fonts![font]
    const place = `1 0 0 -1 ${x.toFixed(2)} ${lineY.toFixed(2)}`
    this.#draw(`BT /${name} ${size} Tf ${gray} g ${place} Tm (${escapeString(encoded)}) Tj ET`)
  }

  rule(x: number, lineY: number, length: number, gray: number): void {
    const [from, to, y] = [x.toFixed(2), (x + length).toFixed(2), lineY.toFixed(2)]
    this.#draw(`${gray} G 0.5 w ${from} ${y} m ${to} ${y} l S`)
  }

  /** A gray background for what is drawn after it. */
  fill(x: number, top: number, length: number, height: number, gray: number): void {
    this.#draw(`${gray} g ${x.toFixed(2)} ${top.toFixed(2)} ${length.toFixed(2)} ${height.toFixed(2)} re f`)
  }

  width(encoded: string, { font = 'regular', size }: Look): number {
    const of = this.widths[font]
    let sum = 0
    for (let i = 0; i < encoded.length; i += 1) sum += of[encoded.charCodeAt(i)]!
    return sum * size
  }

  /** The height that remains on the page below the current position. */
  room(): number {
    return this.#pdf.page.height - bottom - this.#y
  }

  y(): number {
    return this.#y
  }

  moveDown(by: number): void {
    this.#y += by
  }

  /** Bytes that are ready. */
  *take(): Generator<Uint8Array> {
    for (let bytes = this.#pdf.read(); bytes !== null; bytes = this.#pdf.read()) yield bytes as Uint8Array
  }

  /** Completes the document. */
  end(): void {
    this.#leave()
    const { name, reference } = this.#fonts!.regular
    this.#totalFonts[name] = reference
    this.#total.end(`BT /${name} ${footerSize} Tf ${footerGray} g (of ${this.#count}) Tj ET`)
    this.#pdf.end()
  }

  /** The content of a page is written when it is finished: as one piece of bytes instead of one for every cell. */
  #draw(operators: string): void {
    this.#content += `${operators}\n`
  }

  #leave(): void {
    if (this.#count === 0) return
    this.#pdf.addContent(this.#content)
    this.#content = ''
  }

  #drawHead(): void {
    this.#y = margin - 6
    this.text(leftEdge, this.#y, this.#title, { font: 'bold', size: head.size })
    for (const line of this.#headLines) {
      this.#y += head.lineHeight
      this.text(leftEdge, this.#y, line, { size: head.size, gray: head.gray })
    }
    this.#y += 5
    this.rule(leftEdge, this.#y, pageWidth, 0.8)
    this.#y += 8
  }

  #drawFooter(): void {
    const line = this.#pdf.page.height - bottom + 22
    const look = { size: footerSize, gray: footerGray }
    this.rule(leftEdge, line - 10, pageWidth, 0.8)
    const number = `Page ${this.#count} `
    this.text(leftEdge, line, number, look)
    const totalX = (leftEdge + this.width(number, look)).toFixed(2)
    this.#draw(`q 1 0 0 -1 ${totalX} ${line.toFixed(2)} cm /Total Do Q`)
    this.text(leftEdge + pageWidth - this.width(this.#footer, look), line, this.#footer, look)
  }
}

function measure(pdf: PDFKit.PDFDocument, name: string): Widths {
  pdf.font(name).fontSize(1)
  return Array.from({ length: 256 }, (_, byte) => (byte < 0x20 ? 0 : pdf.widthOfString(fromWinAnsi(byte))))
}

/** pdfkit holds every page until the end, only to list them by their numbers; there may be tens of thousands. */
function forget(pdf: PDFKit.PDFDocument, left: Page): void {
  const { Kids: pages } = (pdf as unknown as Internals)._root.data.Pages.data
  pages[pages.length - 2] = Object.assign(Object.create(Object.getPrototypeOf(left)), { id: left.id, gen: left.gen })
}

/** pdfkit adds a font to a page when it draws with it; a space is invisible. */
function registerFonts(pdf: PDFKit.PDFDocument): Record<Font, PageFont> {
  const drawn = (['Helvetica', 'Helvetica-Bold'] as const).map((name) => {
    const before = Object.keys(pdf.page.fonts)
    pdf.font(name).text(' ', margin, margin, { lineBreak: false })
    const added = Object.keys(pdf.page.fonts).find((key) => !before.includes(key))!
    return { name: added, reference: pdf.page.fonts[added] as unknown }
  })
  return { regular: drawn[0]!, bold: drawn[1]! }
}

/** A head that is too high for the page ends in an ellipsis; the facts on the first page hold it in full. */
function shorten(lines: string[]): string[] {
  if (lines.length <= head.linesMax) return lines
  const shown = lines.slice(0, head.linesMax)
  return [...shown.slice(0, -1), `${shown.at(-1)!.slice(0, -20)}${toWinAnsi('…')} (all on page 1)`]
}

/** The inside of a literal string (ISO 32000-1, 7.3.4.2). */
function escapeString(encoded: string): string {
  return encoded.replace(/[\\()]/g, '\\$&')
}
