import { type Column, inLots, isNumeric, type PrintedColumn, type Row, type Table } from '../documents/document.ts'
import { absent, printCell, splitNumber } from '../documents/print.ts'
import type { ZonedTime } from '../documents/zoned-time.ts'
import { createBlocks } from './pdf-blocks.ts'
import { cell, type Drawing, planLayout, type Texts, widthOf } from './pdf-layout.ts'
import { leftEdge, type Pages, pageWidth } from './pdf-pages.ts'
import { createRows } from './pdf-rows.ts'
import { fromLeft, isolate, stripDirections } from './typesetter.ts'

const rowsPerLot = 200
/** The room for further digits, because later rows may have longer numbers than the first ones. */
const spareDigits = 4
const title = { size: 10.5, before: 16, after: 6 }
const titleHeight = title.size + title.after
/** The least room in which a table is begun or a long row is cut. */
const roomMin = 60
const gray = 0.38

/** Draws a table and reports the number of rows after each batch. */
export async function* drawTable(pages: Pages, table: Table, time: ZonedTime): AsyncGenerator<number> {
  let writer: Writer | undefined
  for await (const lot of inLots(table.rows, rowsPerLot)) {
    writer ??= start(pages, table, lot, time)
    for (const row of lot) if (table.isPrinted?.(row) !== false) writer.add(row)
    yield lot.length
  }
  if (writer !== undefined) return writer.end()
  if (pages.room() < title.before + titleHeight + 20) pages.add()
  else pages.moveDown(title.before)
  drawTitle(pages, pages.printable(pages.words.label(table.title)))
  pages.moveDown(cell.lineHeight)
  const none = pages.printable(pages.words.text('none'))
  pages.element('P', () => pages.text(leftEdge, pages.y(), none, { size: cell.size, gray }))
}

type Writer = { add(row: Row): void; end(): void }

function start(pages: Pages, table: Table, sample: Row[], time: ZonedTime): Writer {
  const { widths, printable, words } = pages
  const columns = printedOf(table).map((column) => ({
    ...column,
    label: printable(
      column.kind === 'timestamp' ? `${words.label(column.label)} (${time.zone})` : words.label(column.label),
    ),
    textsOf: textsOf(column, table.columns, pages, time),
  }))
  const measured = columns.map(({ label, kind, textsOf }) => {
    const isNumber = isNumeric(kind)
    const texts = sample.flatMap(textsOf)
    const widest = (parts: string[]) =>
      parts.reduce((most, part) => Math.max(most, widthOf(part, widths.regular, cell.size)), 0)
    const parts = isNumber ? texts.map((text) => splitNumber(text, words.language)) : []
    const fraction = widest(parts.map(([, after]) => after))
    const spare = spareDigits * widthOf('0', widths.regular, cell.size)
    const natural = isNumber ? widest(parts.map(([before]) => before)) + fraction + spare : widest(texts)
    // Heads are bold, and no word of a head is broken.
    const headWidths = label.split(' ').map((word) => widthOf(word, widths.bold, cell.size))
    return { kind, fraction, natural: natural + 2 * cell.padX, header: Math.max(...headWidths) + 2 * cell.padX }
  })
  const layout = planLayout(measured, pageWidth, sample.length === 1 && table.isGrouped !== true)
  const name = printable(words.label(table.title))
  if (layout.kind === 'blocks') {
    return createWriter(
      pages,
      name,
      createBlocks(
        pages,
        columns.filter(({ isInHeading }) => table.headingOf === undefined || isInHeading !== true),
        Math.max(0, ...measured.filter(({ kind }) => isNumeric(kind)).map(({ natural }) => natural / cell.size)),
      ),
      { isRowWhole: true, headingOf: table.headingOf },
    )
  }
  const drawn = columns.map((column, i) => ({ ...column, width: layout.widths[i]!, fraction: measured[i]!.fraction }))
  const headingOf = table.isGrouped === true ? table.headingOf : undefined
  return createWriter(pages, name, createRows(pages, drawn), { isRowWhole: false, headingOf })
}

const printedOf = ({ printed, columns }: Table): readonly PrintedColumn[] =>
  printed ??
  columns
    .filter(({ isOmittedInPrint }) => isOmittedInPrint !== true)
    .map(({ key, label, kind }) => ({ label, kind, keys: [key] }))

function textsOf(
  { keys, kind, separator, isLabelled }: PrintedColumn,
  columns: readonly Column[],
  { printable, words }: Pick<Pages, 'printable' | 'words'>,
  time: ZonedTime,
): Texts {
  const parts = keys.map((key) => {
    const column = columns.find((candidate) => candidate.key === key)
    const shown = { kind, ...(column?.wording === undefined ? {} : { wording: column.wording }) }
    return isLabelled !== true || column === undefined
      ? { key, shown, before: '' }
      : { key, shown: column, before: printable(`${words.label(column.label)}: `) }
  })
  const missing = [printable(absent)]
  // Values beside each other keep their order, whatever their scripts are.
  const beside = (text: string) => (isLabelled === true || separator !== undefined ? isolate(text) : text)
  return (row) => {
    const texts: string[] = []
    for (const { key, shown, before } of parts) {
      const value = row[key] ?? null
      if (value !== null && value !== '') texts.push(before + beside(printable(printCell(value, shown, time, words))))
    }
    if (texts.length === 0) return missing
    return separator === undefined ? texts : [texts.join(separator)]
  }
}

/**
 * Lays out the rows one after the other. The rows under one heading, or of a table without headings, are kept on one page if a
 * page can hold them: they are held back until they are known to be longer than a page.
 */
function createWriter<Item>(
  pages: Pages,
  name: string,
  drawing: Drawing<Item>,
  { isRowWhole, headingOf }: { isRowWhole: boolean; headingOf: Table['headingOf'] },
): Writer {
  let heading: string | null = null
  const held: Item[] = []
  let heldHeight = 0
  let isTitled = false
  let isBegun = false

  const headingHeight = () => (heading === null ? 0 : drawing.headingHeight)
  const wholePage = () => pages.roomOfPage() - titleHeight - drawing.headerHeight - headingHeight()

  function begin(): void {
    const above = isTitled ? 0 : title.before + titleHeight + drawing.headerHeight
    const needed = above + headingHeight() + (heldHeight <= wholePage() ? heldHeight : roomMin)
    if (!isTitled) {
      if (pages.room() < needed) pages.add()
      else pages.moveDown(title.before)
      drawTitle(pages, name)
      pages.openGroup(drawing.group)
      drawing.drawHeader()
      isTitled = true
    } else if (pages.room() < needed) turnPage(false)
    if (heading !== null) drawing.drawHeading(heading)
    isBegun = true
    for (const item of held.splice(0)) draw(item)
  }

  function draw(item: Item): void {
    const height = drawing.heightOf(item)
    if (height > pages.room() && (height <= wholePage() || pages.room() < roomMin)) turnPage()
    let rest = drawing.draw(item)
    while (rest !== null) {
      turnPage()
      rest = drawing.draw(rest)
    }
  }

  function turnPage(isWithin = true): void {
    pages.add()
    pages.repeat(() => drawHead(pages, drawing, name, isWithin ? heading : null))
  }

  function finish(): void {
    if (held.length > 0) begin()
    isBegun = false
    heldHeight = 0
  }

  return {
    add(row) {
      const next = headingOf === undefined ? null : fromLeft(pages.printable(headingOf(row)))
      if (isRowWhole || next !== heading) finish()
      heading = next
      const item = drawing.measure(row)
      if (isBegun) return draw(item)
      held.push(item)
      heldHeight += drawing.heightOf(item)
      if (heldHeight > wholePage()) begin()
    },
    end() {
      finish()
      if (isTitled) pages.closeGroup()
    },
  }
}

function drawTitle(pages: Pages, name: string): void {
  pages.moveDown(title.size)
  pages.element('H2', () => pages.text(leftEdge, pages.y(), name, { font: 'bold', size: title.size }))
  pages.moveDown(title.after)
}

/** Draws title, header and heading of a table again, on a further page. */
function drawHead<Item>(pages: Pages, drawing: Drawing<Item>, name: string, heading: string | null): void {
  const continued = (text: string) =>
    fromLeft(pages.printable(pages.words.text('continued', { title: stripDirections(text) })))
  drawTitle(pages, continued(name))
  drawing.drawHeader()
  if (heading !== null) drawing.drawHeading(continued(heading))
}
