import { type ColumnKind, isNumeric, type Row } from '../documents/document.ts'
import { splitNumber } from '../documents/print.ts'
import { cell, type Drawing, type Texts, widthOf, wrap, wrapTexts } from './pdf-layout.ts'
import { leftEdge, type Pages } from './pdf-pages.ts'

const shade = { rule: 0.82, header: [0.93, 0.93, 0.93], heading: [0.965, 0.965, 0.965] } as const

type Column = {
  label: string
  kind: ColumnKind
  textsOf: Texts
  width: number
  /** The room behind the decimal point, which is at the same place in every row. */
  fraction: number
}

const heightOf = (lines: number) => lines * cell.lineHeight + 2 * cell.padY

/** Rows below each other, in columns under a header. */
export function createRows(pages: Pages, columns: Column[]): Drawing<string[][]> {
  const { regular, bold } = pages.widths
  const tableWidth = columns.reduce((sum, { width }) => sum + width, 0)
  const edges = columns.map((_, i) => leftEdge + columns.slice(0, i).reduce((sum, { width }) => sum + width, 0))
  const inner = columns.map(({ width }) => width - 2 * cell.padX)
  const labels = columns.map(({ label }, i) => wrap(label, bold, cell.size, inner[i]!))
  const longest = (cells: string[][]) => Math.max(...cells.map((lines) => lines.length))
  const headerHeight = heightOf(longest(labels))
  const type = { language: pages.words.language, widths: regular, size: cell.size }

  function drawCells(cells: string[][], font: 'regular' | 'bold'): void {
    const isHeader = font === 'bold'
    for (const [i, lines] of cells.entries()) {
      if (isHeader) pages.element('TH', () => drawCell(i, lines, font), { A: { O: 'Table', Scope: 'Column' } })
      else pages.element('TD', () => drawCell(i, lines, font))
    }
  }

  function drawCell(i: number, lines: string[], font: 'regular' | 'bold'): void {
    const top = pages.y() + cell.padY + cell.size - 0.6
    for (const [n, line] of lines.entries()) {
      if (line === '') continue
      const x = edges[i]! + cell.padX + shiftOf(i, line, font)
      pages.text(x, top + n * cell.lineHeight, line, { font, size: cell.size })
    }
  }

  /** Returns the shift of a text. Labels of numbers end with the column; numbers have their decimal points below each other. */
  function shiftOf(i: number, line: string, font: 'regular' | 'bold'): number {
    const { kind, fraction } = columns[i]!
    if (!isNumeric(kind)) return 0
    const room = inner[i]! - widthOf(line, pages.widths[font], cell.size)
    // A fraction that stands on a line of its own ends with the column too.
    if (font === 'bold' || /^[.,]\d/.test(line)) return room
    const [, after] = splitNumber(line, pages.words.language)
    const behind = widthOf(after, regular, cell.size)
    // A number that is longer than the room beside the point ends with the column.
    return Math.max(0, room - Math.max(0, fraction - behind))
  }

  return {
    group: 'Table',
    headerHeight,
    headingHeight: heightOf(1),
    measure: (row: Row) =>
      columns.map(({ textsOf, kind }, i) => wrapTexts(textsOf(row), kind, { ...type, width: inner[i]! })),
    heightOf: (cells) => heightOf(longest(cells)),
    drawHeader() {
      pages.fill(leftEdge, pages.y(), tableWidth, headerHeight, shade.header)
      pages.row('TR', () => drawCells(labels, 'bold'))
      pages.moveDown(headerHeight)
    },
    drawHeading: (text) => drawHeading(pages, text, { columns: columns.length, width: tableWidth }),
    draw(cells) {
      const lines = longest(cells)
      const fitting = Math.max(1, Math.floor((pages.room() - 2 * cell.padY) / cell.lineHeight))
      const drawn = Math.min(lines, fitting)
      const shown = cells.map((lines) => lines.slice(0, drawn))
      pages.row('TR', () => drawCells(shown, 'regular'))
      pages.moveDown(heightOf(drawn))
      pages.rule(leftEdge, pages.y(), tableWidth, shade.rule)
      return drawn === lines ? null : cells.map((all) => all.slice(drawn))
    },
  }
}

function drawHeading(pages: Pages, text: string, { columns, width }: { columns: number; width: number }): void {
  const [line] = wrap(text, pages.widths.bold, cell.size, width - 2 * cell.padX)
  pages.fill(leftEdge, pages.y(), width, heightOf(1), shade.heading)
  const baseline = pages.y() + cell.padY + cell.size - 0.6
  const drawLine = () => pages.text(leftEdge + cell.padX, baseline, line!, { font: 'bold', size: cell.size })
  const spans = { A: { O: 'Table', Scope: 'Row', ColSpan: columns } }
  pages.row('TR', () => pages.element('TH', drawLine, spans))
  pages.moveDown(heightOf(1))
  pages.rule(leftEdge, pages.y(), width, shade.rule)
}
