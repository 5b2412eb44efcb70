import { type Column, inLots, isNumeric, type OnRows, type ReportDocument, type Row, type Table } from './document.ts'
import { type Layout, planLayout, widthOf, wrap } from './pdf-layout.ts'
import { leftEdge, Pages, pageWidth } from './pdf-pages.ts'
import { toWinAnsi } from './win-ansi.ts'

const rowsPerLot = 200
const cell = { size: 7, lineHeight: 8.6, padX: 4, padY: 3 }
const title = { size: 16, lineHeight: 22 }
const heading = { size: 10.5, before: 16, after: 6 }
const fact = { size: 8.5, lineHeight: 12, labelWidth: 104 }
/** Later rows may have longer numbers than the first ones: room for so many more digits. */
const spareDigits = 4
/** Blocks of labelled values: how many are side by side. */
const block = { columns: 6, labelSize: 6.2, labelHeight: 8.5, size: 7.6, lineHeight: 9.4, gap: 10, after: 5 }
const gray = { label: 0.38, rule: 0.82, header: 0.93 }

/**
 * PDF on A4: title and facts, then the tables; the header of a table is repeated on every page, numbers are aligned to the
 * right, and long text is wrapped. The head of every page identifies the report by subject, interval and filters; the foot
 * has the page number, the number of pages and the id of the report. Timestamps are shown to the second, in UTC.
 */
export async function* renderPdf(
  document: ReportDocument,
  onRows: OnRows,
  { isCompressed = true }: { isCompressed?: boolean } = {},
): AsyncGenerator<Uint8Array> {
  const pages = new Pages({
    title: toWinAnsi(document.title),
    pageHead: document.pageHead.map(toWinAnsi),
    footer: toWinAnsi(`Report ${document.id} · generated at ${document.generatedAt.toISOString()}`),
    createdAt: document.generatedAt,
    isCompressed,
  })
  pages.add()
  drawTop(pages, document)
  for (const table of document.tables) {
    for await (const count of drawTable(pages, table)) {
      yield* pages.take()
      onRows(count)
    }
  }
  pages.end()
  yield* pages.take()
}

function drawTop(pages: Pages, document: ReportDocument): void {
  pages.moveDown(title.size)
  pages.text(leftEdge, pages.y(), toWinAnsi(document.title), { font: 'bold', size: title.size })
  pages.moveDown(title.lineHeight - title.size + 4)
  const room = pageWidth - fact.labelWidth
  for (const { label, value } of document.facts) {
    const lines = wrap(toWinAnsi(value), pages.widths.regular, fact.size, room)
    for (const [i, line] of lines.entries()) {
      if (pages.room() < fact.lineHeight) pages.add()
      pages.moveDown(fact.lineHeight)
      if (i === 0) pages.text(leftEdge, pages.y(), toWinAnsi(label), { size: fact.size, gray: gray.label })
      pages.text(leftEdge + fact.labelWidth, pages.y(), line, { size: fact.size })
    }
  }
}

/** Draws a table and reports the number of rows after each batch. */
async function* drawTable(pages: Pages, table: Table): AsyncGenerator<number> {
  const name = toWinAnsi(table.title)
  const columns = table.columns.filter(({ isOmittedInPrint }) => isOmittedInPrint !== true)
  let setting: { layout: Layout; drawRow: (row: Row) => void } | undefined
  for await (const lot of inLots(table.rows, rowsPerLot)) {
    setting ??= start(pages, name, columns, lot)
    for (const row of lot) setting.drawRow(row)
    yield lot.length
  }
  if (setting !== undefined) return
  startBelow(pages, name, 20)
  pages.moveDown(cell.lineHeight)
  pages.text(leftEdge, pages.y(), 'None.', { size: cell.size, gray: gray.label })
}

function start(pages: Pages, name: string, columns: Column[], sample: Row[]) {
  const measured = columns.map(({ key, label, kind }) => {
    const widest = Math.max(
      ...sample.map((row) => widthOf(print(row[key] ?? null, kind), pages.widths.regular, cell.size)),
    )
    const words = toWinAnsi(label).split(' ')
    const header = Math.max(...words.map((word) => widthOf(word, pages.widths.bold, cell.size)))
    const spare = isNumeric(kind) ? spareDigits * widthOf('0', pages.widths.regular, cell.size) : 0
    return { kind, natural: widest + spare + 2 * cell.padX, header: header + 2 * cell.padX }
  })
  const layout = planLayout(measured, pageWidth, sample.length === 1)
  return {
    layout,
    drawRow: layout.kind === 'blocks' ? blockDrawer(pages, name, columns) : rowDrawer(pages, name, columns, layout),
  }
}

/** Draws the title of a table, on a new page when less than `least` would fit under it. */
function startBelow(pages: Pages, name: string, least: number): void {
  if (pages.room() < heading.before + heading.size + heading.after + least) {
    pages.add()
  } else {
    pages.moveDown(heading.before)
  }
  drawHeading(pages, name)
}

function drawHeading(pages: Pages, name: string): void {
  pages.moveDown(heading.size)
  pages.text(leftEdge, pages.y(), name, { font: 'bold', size: heading.size })
  pages.moveDown(heading.after)
}

function rowDrawer(
  pages: Pages,
  name: string,
  columns: Column[],
  { widths }: Extract<Layout, { kind: 'columns' }>,
): (row: Row) => void {
  const tableWidth = widths.reduce((sum, width) => sum + width, 0)
  const edges = widths.map((_, i) => leftEdge + widths.slice(0, i).reduce((sum, width) => sum + width, 0))
  const inner = widths.map((width) => width - 2 * cell.padX)
  const labels = columns.map(({ label, kind }, i) =>
    wrap(toWinAnsi(kind === 'timestamp' ? `${label} (UTC)` : label), pages.widths.bold, cell.size, inner[i]!),
  )
  const heightOf = (lines: number) => lines * cell.lineHeight + 2 * cell.padY

  function drawCells(cells: string[][], font: 'regular' | 'bold'): void {
    const top = pages.y() + cell.padY + cell.size - 0.6
    for (const [i, lines] of cells.entries()) {
      const isRight = isNumeric(columns[i]!.kind)
      for (const [n, line] of lines.entries()) {
        if (line === '') continue
        const shift = isRight ? inner[i]! - pages.width(line, { font, size: cell.size }) : 0
        pages.text(edges[i]! + cell.padX + shift, top + n * cell.lineHeight, line, { font, size: cell.size })
      }
    }
  }

  function drawHeader(): void {
    const height = heightOf(Math.max(...labels.map((lines) => lines.length)))
    pages.fill(leftEdge, pages.y(), tableWidth, height, gray.header)
    drawCells(labels, 'bold')
    pages.moveDown(height)
  }

  function turnPage(): void {
    pages.add()
    drawHeading(pages, `${name} (continued)`)
    drawHeader()
  }

  startBelow(pages, name, 60)
  drawHeader()
  return (row) => {
    let cells = columns.map(({ key, kind }, i) =>
      wrap(print(row[key] ?? null, kind), pages.widths.regular, cell.size, inner[i]!),
    )
    let lines = Math.max(...cells.map((cell) => cell.length))
    let isFresh = false
    if (heightOf(lines) > pages.room()) {
      turnPage()
      isFresh = true
    }
    // Only a row that is higher than a whole page is cut.
    for (;;) {
      const fitting = Math.max(1, Math.floor((pages.room() - 2 * cell.padY) / cell.lineHeight))
      const drawn = Math.min(lines, isFresh ? fitting : lines)
      drawCells(
        cells.map((cell) => cell.slice(0, drawn)),
        'regular',
      )
      pages.moveDown(heightOf(drawn))
      pages.rule(leftEdge, pages.y(), tableWidth, gray.rule)
      if (drawn === lines) return
      cells = cells.map((cell) => cell.slice(drawn))
      lines -= drawn
      turnPage()
    }
  }
}

/** Every row as values with their labels above them. */
function blockDrawer(pages: Pages, name: string, columns: Column[]): (row: Row) => void {
  const width = pageWidth / block.columns
  const inner = width - block.gap
  let isFirst = true
  startBelow(pages, name, 60)
  return (row) => {
    if (!isFirst) {
      pages.moveDown(2)
      pages.rule(leftEdge, pages.y(), pageWidth, gray.rule)
      pages.moveDown(4)
    }
    isFirst = false
    for (let i = 0; i < columns.length; i += block.columns) {
      const group = columns.slice(i, i + block.columns).map(({ key, label, kind }) => ({
        label: wrap(
          toWinAnsi(kind === 'timestamp' ? `${label} (UTC)` : label),
          pages.widths.regular,
          block.labelSize,
          inner,
        ),
        lines: wrap(print(row[key] ?? null, kind), pages.widths.regular, block.size, inner),
      }))
      drawGroup(group)
    }
  }

  function drawGroup(group: { label: string[]; lines: string[] }[]): void {
    let rest = group
    for (;;) {
      const labels = Math.max(...rest.map(({ label }) => label.length))
      const lines = Math.max(...rest.map(({ lines }) => lines.length))
      const heightOf = (count: number) => labels * block.labelHeight + count * block.lineHeight + block.after
      if (pages.room() < heightOf(Math.min(lines, 3))) {
        pages.add()
        drawHeading(pages, `${name} (continued)`)
      }
      const fitting = Math.max(1, Math.floor((pages.room() - heightOf(0)) / block.lineHeight))
      const drawn = Math.min(lines, fitting)
      const top = pages.y() + block.labelHeight
      for (const [i, item] of rest.entries()) {
        const x = leftEdge + i * width
        for (const [n, line] of item.label.entries()) {
          pages.text(x, top + n * block.labelHeight, line, { size: block.labelSize, gray: gray.label })
        }
        for (const [n, line] of item.lines.slice(0, drawn).entries()) {
          pages.text(x, top + labels * block.labelHeight + n * block.lineHeight, line, { size: block.size })
        }
      }
      pages.moveDown(heightOf(drawn))
      if (drawn === lines) return
      rest = rest.map(({ label, lines }) => ({ label, lines: lines.slice(drawn) }))
    }
  }
}

/** Shown for a missing value, so that an empty place is not mistaken for a printing error. */
const absent = toWinAnsi('–')

function print(value: string | number | null, kind: Column['kind']): string {
  if (value === null || value === '') return absent
  if (kind === 'percent') return `${value} %`
  if (kind === 'timestamp') return String(value).slice(0, 19).replace('T', ' ')
  return toWinAnsi(String(value))
}
