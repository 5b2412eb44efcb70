import PDFDocument from 'pdfkit'
import type { Orientation, Widths } from './pdf-layout.ts'
import { fromWinAnsi } from './win-ansi.ts'

export type Font = 'regular' | 'bold'
type Look = { font?: Font; size: number; gray?: number }

const margin = 40
/** Where the last line of a page may end, from its lower edge. */
const bottom = 52
const footerSize = 7
const footerGray = 0.35
/** Room for `of 1,234,567` behind the number of a page. */
const totalWidth = 34

/** Between the margins, in points of 1/72 inch: A4 is 595.28 by 841.89. */
export const pageWidths: Record<Orientation, number> = { portrait: 595.28 - 2 * margin, landscape: 841.89 - 2 * margin }
export const leftEdge = margin

export type Pages = ReturnType<typeof openPages>

type Options = {
  title: string
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
export function openPages({ title, footer, createdAt, isCompressed }: Options) {
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
  let orientation: Orientation = 'portrait'
  let y = margin
  const widths = { regular: measure('Helvetica'), bold: measure('Helvetica-Bold') }

  function measure(name: string): Widths {
    pdf.font(name).fontSize(1)
    return Array.from({ length: 256 }, (_, byte) => (byte < 0x20 ? 0 : pdf.widthOfString(fromWinAnsi(byte))))
  }

  function add(wanted: Orientation): void {
    pdf.addPage({ size: 'A4', layout: wanted, margin })
    fonts ??= registerFonts()
    for (const { name, reference } of Object.values(fonts)) pdf.page.fonts[name] = reference
    pdf.page.xobjects.Total = total
    orientation = wanted
    count += 1
    y = margin
    drawFooter()
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
    rule(margin, line - 10, pageWidths[orientation], 0.8)
    text(margin, line, footer, { size: footerSize, gray: footerGray })
    const number = `Page ${count} `
    const end = margin + pageWidths[orientation] - totalWidth
    text(end - width(number, { size: footerSize }), line, number, { size: footerSize, gray: footerGray })
    pdf.addContent(`q 1 0 0 -1 ${end.toFixed(2)} ${line.toFixed(2)} cm /Total Do Q`)
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
    pdf.addContent(
      `BT /${name} ${size} Tf ${gray} g 1 0 0 -1 ${x.toFixed(2)} ${lineY.toFixed(2)} Tm (${escapeString(encoded)}) Tj ET`,
    )
  }

  function rule(x: number, lineY: number, length: number, gray: number): void {
    pdf.addContent(
      `${gray} G 0.5 w ${x.toFixed(2)} ${lineY.toFixed(2)} m ${(x + length).toFixed(2)} ${lineY.toFixed(2)} l S`,
    )
  }

  return {
    widths,
    add,
    text,
    rule,
    width,
    /** A gray field behind what is drawn after it. */
    fill(x: number, top: number, length: number, height: number, gray: number): void {
      pdf.addContent(`${gray} g ${x.toFixed(2)} ${top.toFixed(2)} ${length.toFixed(2)} ${height.toFixed(2)} re f`)
    },
    orientation: () => orientation,
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
      totalFonts[fonts!.regular.name] = fonts!.regular.reference
      total.end(`BT /${fonts!.regular.name} ${footerSize} Tf ${footerGray} g (of ${count}) Tj ET`)
      pdf.end()
    },
  }
}

/** The inside of a literal string (ISO 32000-1, 7.3.4.2). */
function escapeString(encoded: string): string {
  return encoded.replace(/[\\()]/g, '\\$&')
}
