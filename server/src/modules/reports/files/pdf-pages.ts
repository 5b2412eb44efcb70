import PDFDocument from 'pdfkit'
import { type Widths, wrap } from './pdf-layout.ts'
import { fromWinAnsi, toWinAnsi } from './win-ansi.ts'

export type Font = 'regular' | 'bold'
type Look = { font?: Font; size: number; gray?: number }

const margin = 40
/** Where the last line of a page may end, from its lower edge. */
const bottom = 52
const footerSize = 7
const footerGray = 0.35
const head = { size: 7, lineHeight: 9, gray: 0.35, linesMax: 3 }
/** Room for `of 1234567` behind the number of a page. */
const totalWidth = 40

/** Between the margins of A4 on its side, in points of 1/72 inch. */
export const pageWidth = 841.89 - 2 * margin
export const leftEdge = margin

export type Pages = ReturnType<typeof openPages>

/** A page as other objects of the file refer to it. */
type Page = { id: number; gen: number }
type Internals = { _root: { data: { Pages: { data: { Kids: Page[] } } } } }

type Options = {
  title: string
  /** Stands above every page but the first, which says all of it and more. */
  pageHead: string[]
  footer: string
  createdAt: Date
  /** false leaves the pages readable, for tests. */
  isCompressed: boolean
}

/**
 * A PDF page by page: what is drawn goes to the current page, and a page that is left is written and forgotten. Texts are
 * in WinAnsi. They are drawn by operators of our own: pdfkit's text layout costs ten times as much, and a statement may
 * have tens of millions of cells.
 */
export function openPages({ title, pageHead, footer, createdAt, isCompressed }: Options) {
  const pdf = new PDFDocument({
    autoFirstPage: false,
    size: 'A4',
    margin,
    pdfVersion: '1.7',
    lang: 'en',
    displayTitle: true,
    compress: isCompressed,
    info: { Title: title, Creator: 'Strongroom', Producer: 'Strongroom', CreationDate: createdAt },
  })
  // Its text is drawn in the end, when it is known, and every page shows it by reference.
  const totalFonts: Record<string, unknown> = {}
  const total = pdf.ref({
    Type: 'XObject',
    Subtype: 'Form',
    BBox: [0, -2, totalWidth, footerSize],
    Resources: { Font: totalFonts },
  })
  let fonts: Record<Font, { name: string; reference: unknown }> | undefined
  let count = 0
  let content = ''
  let y = margin
  const widths = { regular: measure('Helvetica'), bold: measure('Helvetica-Bold') }
  const headLines = pageHead.flatMap((line) => shorten(wrap(line, widths.regular, head.size, pageWidth)))

  function measure(name: string): Widths {
    pdf.font(name).fontSize(1)
    return Array.from({ length: 256 }, (_, byte) => (byte < 0x20 ? 0 : pdf.widthOfString(fromWinAnsi(byte))))
  }

  /** What a page shows is handed over when it is left: as one piece of bytes instead of one for every cell. */
  function draw(operators: string): void {
    content += `${operators}\n`
  }

  function leave(): void {
    if (count === 0) return
    pdf.addContent(content)
    content = ''
  }

  /** pdfkit holds every page until the end, only to list them by their numbers; there may be tens of thousands. */
  function forget(left: Page | null): void {
    if (left === null) return
    const { Kids: pages } = (pdf as unknown as Internals)._root.data.Pages.data
    pages[pages.length - 2] = Object.assign(Object.create(Object.getPrototypeOf(left)), { id: left.id, gen: left.gen })
  }

  function add(): void {
    leave()
    const left = count === 0 ? null : (pdf.page.dictionary as unknown as Page)
    pdf.addPage({ size: 'A4', layout: 'landscape', margin })
    forget(left)
    fonts ??= registerFonts()
    for (const { name, reference } of Object.values(fonts)) pdf.page.fonts[name] = reference
    pdf.page.xobjects.Total = total
    count += 1
    y = margin
    if (count > 1) drawHead()
    drawFooter()
  }

  function drawHead(): void {
    y = margin - 6
    text(leftEdge, y, title, { font: 'bold', size: head.size })
    for (const line of headLines) {
      y += head.lineHeight
      text(leftEdge, y, line, { size: head.size, gray: head.gray })
    }
    y += 5
    rule(leftEdge, y, pageWidth, 0.8)
    y += 8
  }

  /** A page learns of a font when pdfkit draws with it; a space does no harm. */
  function registerFonts(): Record<Font, { name: string; reference: unknown }> {
    const drawn = (['Helvetica', 'Helvetica-Bold'] as const).map((name) => {
      const before = Object.keys(pdf.page.fonts)
      pdf.font(name).text(' ', margin, margin, { lineBreak: false })
      const added = Object.keys(pdf.page.fonts).find((key) => !before.includes(key))!
      return { name: added, reference: pdf.page.fonts[added] as unknown }
    })
    return { regular: drawn[0]!, bold: drawn[1]! }
  }

  function drawFooter(): void {
    const line = pdf.page.height - bottom + 22
    const look = { size: footerSize, gray: footerGray }
    rule(leftEdge, line - 10, pageWidth, 0.8)
    const number = `Page ${count} `
    text(leftEdge, line, number, look)
    draw(`q 1 0 0 -1 ${(leftEdge + width(number, look)).toFixed(2)} ${line.toFixed(2)} cm /Total Do Q`)
    text(leftEdge + pageWidth - width(footer, look), line, footer, look)
  }

  function width(encoded: string, { font = 'regular', size }: Look): number {
    const of = widths[font]
    let sum = 0
    for (let i = 0; i < encoded.length; i += 1) sum += of[encoded.charCodeAt(i)]!
    return sum * size
  }

  /** Draws one line; `lineY` is its baseline. */
  function text(x: number, lineY: number, encoded: string, { font = 'regular', size, gray = 0 }: Look): void {
    const name = fonts![font].name
    draw(
      `BT /${name} ${size} Tf ${gray} g 1 0 0 -1 ${x.toFixed(2)} ${lineY.toFixed(2)} Tm (${escapeString(encoded)}) Tj ET`,
    )
  }

  function rule(x: number, lineY: number, length: number, gray: number): void {
    draw(`${gray} G 0.5 w ${x.toFixed(2)} ${lineY.toFixed(2)} m ${(x + length).toFixed(2)} ${lineY.toFixed(2)} l S`)
  }

  return {
    widths,
    add,
    text,
    rule,
    width,
    /** A gray field behind what is drawn after it. */
    fill(x: number, top: number, length: number, height: number, gray: number): void {
      draw(`${gray} g ${x.toFixed(2)} ${top.toFixed(2)} ${length.toFixed(2)} ${height.toFixed(2)} re f`)
    },
    /** What is left of the page below the current place. */
    room: () => pdf.page.height - bottom - y,
    y: () => y,
    moveDown(by: number): void {
      y += by
    },
    /** Bytes that are ready. */
    *take(): Generator<Uint8Array> {
      for (let bytes = pdf.read(); bytes !== null; bytes = pdf.read()) yield bytes as Uint8Array
    },
    /** Completes the document. */
    end(): void {
      leave()
      totalFonts[fonts!.regular.name] = fonts!.regular.reference
      total.end(`BT /${fonts!.regular.name} ${footerSize} Tf ${footerGray} g (of ${count}) Tj ET`)
      pdf.end()
    },
  }
}

/** A head that takes too much of the page ends in an ellipsis: its rest is among the facts of the first page. */
function shorten(lines: string[]): string[] {
  if (lines.length <= head.linesMax) return lines
  const shown = lines.slice(0, head.linesMax)
  return [...shown.slice(0, -1), `${shown.at(-1)!.slice(0, -20)}${toWinAnsi('…')} (all on page 1)`]
}

/** The inside of a literal string (ISO 32000-1, 7.3.4.2). */
function escapeString(encoded: string): string {
  return encoded.replace(/[\\()]/g, '\\$&')
}
