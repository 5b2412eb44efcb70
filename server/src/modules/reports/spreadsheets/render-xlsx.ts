import { type Column, inLots, type OnRows, type ReportDocument, type Row } from '../documents/document.ts'
import { createZonedTime, type ZonedTime } from '../documents/zoned-time.ts'
import { createArchive, partBytesMax } from './archive.ts'
import { isLongNumber, letters, type SheetColumn, sheetColumnsOf, style, textCell, toCell } from './xlsx-cells.ts'
import { declaration, main, type NamedSheet, packageParts } from './xlsx-package.ts'

/** The limits of a sheet: the maximum number of rows by the specification of Excel, where the header counts as a row. */
const sheetLimits = { rowsMax: 1_048_576, bytesMax: partBytesMax }
const sheetNameLengthMax = 31
const rowsPerLot = 200
/** Widths in characters of the standard font. */
const columnWidths = { min: 8, max: 60 }
const timeWidth = 20
/** The name of the sheet of facts: the first sheet, but written last, when everything is known. */
const factsSheet = 'About'

/**
 * Renders XLSX (ECMA-376) row by row into an archive that is never held in memory as a whole: a sheet with the facts, then one
 * per table, its header bold, frozen and with a filter; a table too long for a sheet continues in the next. Amounts are numbers,
 * with every digit as text in the column beside them; other numbers with more digits than a spreadsheet keeps are written as text,
 * and the cells of their column say why. Timestamps are dates in the time zone of the report.
 * Strings are written as strings, which are never evaluated, in cells formatted as text, so that an edit does not make a
 * formula.
 */
export async function* renderXlsx(
  document: ReportDocument,
  onRows: OnRows,
  limits = sheetLimits,
): AsyncGenerator<Uint8Array> {
  const archive = createArchive(document.generatedAt)
  const time = createZonedTime(document.timezone)
  const named: NamedSheet[] = [{ name: factsSheet, cells: null }]
  let longNumbers = 0

  for (const { title, columns: tableColumns, rows } of document.tables) {
    const columns = sheetColumnsOf(tableColumns)
    let sheet: Sheet | null = null
    let widths: number[] | undefined
    const openSheet = (): Sheet => {
      archive.open(pathOf(named.length + 1))
      const taken = named.map(({ name }) => name)
      named.push({ name: toSheetName(title, taken), cells: null })
      archive.write(toSheetStart(columns, widths ?? [], time))
      return { rows: 1, longColumns: new Set() }
    }
    const closeSheet = (open: Sheet) => {
      const cells = `A1:${letters(columns.length - 1)}${open.rows}`
      named[named.length - 1]!.cells = cells
      archive.write(toSheetEnd(open, cells))
      return archive.close()
    }
    for await (const lot of inLots(rows, rowsPerLot)) {
      widths ??= columns.map((column) => widthOf(column, lot))
      let xml = ''
      for (const row of lot) {
        if (sheet !== null && (sheet.rows >= limits.rowsMax || archive.bytesOfPart() >= limits.bytesMax)) {
          archive.write(xml)
          xml = ''
          yield* closeSheet(sheet)
          sheet = null
        }
        sheet ??= openSheet()
        sheet.rows += 1
        xml += toRow(columns, row, sheet.rows, time)
        longNumbers += noteLongNumbers(columns, row, sheet)
      }
      archive.write(xml)
      yield* archive.take()
      onRows(lot.length)
    }
    yield* closeSheet(sheet ?? openSheet())
  }

  archive.open(pathOf(1))
  archive.write(toFactsSheet(document, longNumbers))
  yield* archive.close()
  for (const [path, xml] of packageParts(named)) {
    archive.open(path)
    archive.write(xml)
    yield* archive.close()
  }
  yield* archive.end()
}

/** A sheet that is being written: its number of rows, and its columns that hold a number as text. */
type Sheet = { rows: number; longColumns: Set<number> }

const pathOf = (number: number) => `xl/worksheets/sheet${number}.xml`

/** Counts the numbers of the row that are written as text. */
function noteLongNumbers(columns: readonly SheetColumn[], row: Row, { longColumns }: Sheet): number {
  let found = 0
  for (const [i, column] of columns.entries()) {
    if (!isLongNumber(row[column.key] ?? null, column)) continue
    longColumns.add(i)
    found += 1
  }
  return found
}

function toFactsSheet({ title, facts, timezone, contentSha256 }: ReportDocument, longNumbers: number): string {
  const notes = [
    { label: 'Times', value: `on the clocks of ${timezone}` },
    ...(longNumbers === 0
      ? []
      : [
          {
            label: 'Numbers as text',
            value: `${longNumbers}: they have more than 15 digits, of which a spreadsheet would drop some`,
          },
        ]),
    { label: 'Content SHA-256', value: contentSha256() },
  ]
  const rows = [...facts, ...notes].map(({ label, value, reference }: ReportDocument['facts'][number], i) => {
    const number = i + 2
    const id = reference === undefined ? '' : textCell(`C${number}`, reference)
    return `<row r="${number}">${textCell(`A${number}`, label, style.header)}${textCell(`B${number}`, value)}${id}</row>`
  })
  return [
    `${declaration}<worksheet xmlns="${main}"><cols><col min="1" max="1" width="24" customWidth="1"/>`,
    '<col min="2" max="2" width="90" customWidth="1"/><col min="3" max="3" width="30" customWidth="1"/></cols>',
    `<sheetData><row r="1">${textCell('A1', title, style.title)}</row>${rows.join('')}</sheetData></worksheet>`,
  ].join('')
}

function toSheetStart(columns: Column[], widths: number[], { zone }: ZonedTime): string {
  const cols = columns.map((column, i) => {
    const width = widths[i] ?? widthOf(column, [])
    return `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`
  })
  const header = columns.map(({ label, kind }, i) =>
    textCell(`${letters(i)}1`, kind === 'timestamp' ? `${label} (${zone})` : label, style.header),
  )
  return [
    `${declaration}<worksheet xmlns="${main}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>`,
    '<sheetViews><sheetView workbookViewId="0">',
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>',
    `<cols>${cols.join('')}</cols><sheetData><row r="1">${header.join('')}</row>`,
  ].join('')
}

/** The set-up of a printed page: A4 landscape, as wide as the table, with the name of the sheet and the number of the page. */
const pageSetup =
  '<pageMargins left="0.5" right="0.5" top="0.6" bottom="0.6" header="0.3" footer="0.3"/>' +
  '<pageSetup paperSize="9" orientation="landscape" fitToWidth="1" fitToHeight="0"/>' +
  '<headerFooter><oddFooter>&amp;L&amp;A&amp;R&amp;P / &amp;N</oddFooter></headerFooter>'

/** Returns the end of a sheet. A reader who selects a cell of a column with numbers as text sees the reason. */
function toSheetEnd({ rows, longColumns }: Sheet, cells: string): string {
  const notes = [...longColumns].map(
    (column) =>
      '<dataValidation allowBlank="1" showInputMessage="1" promptTitle="Numbers as text" ' +
      'prompt="A number with more than 15 digits is text here, because a spreadsheet would drop some of them." ' +
      `sqref="${letters(column)}2:${letters(column)}${rows}"/>`,
  )
  const all = notes.length === 0 ? '' : `<dataValidations count="${notes.length}">${notes.join('')}</dataValidations>`
  return `</sheetData><autoFilter ref="${cells}"/>${all}${pageSetup}</worksheet>`
}

function toRow(columns: readonly SheetColumn[], row: Row, number: number, time: ZonedTime): string {
  let xml = `<row r="${number}">`
  for (const [i, column] of columns.entries()) {
    xml += toCell(`${letters(i)}${number}`, row[column.key] ?? null, column, time)
  }
  return `${xml}</row>`
}

/** Returns the width of the widest of the first rows, within bounds; separators of thousands take room too. */
function widthOf({ key, label, kind }: Column, rows: Row[]): number {
  if (kind === 'timestamp') return Math.max(timeWidth, label.length + 2)
  let width = label.length
  for (const row of rows) {
    const { length } = String(row[key] ?? '')
    width = Math.max(width, kind === 'text' ? length : Math.ceil(length * 1.3))
  }
  return Math.min(Math.max(width + 2, columnWidths.min), columnWidths.max)
}

/** Returns a name that Excel accepts: short, whole words, without the characters of references, and unique. */
function toSheetName(title: string, taken: string[]): string {
  const isTaken = (name: string) => taken.some((other) => other.toLowerCase() === name.toLowerCase())
  const bare = title.replace(/[[\]:*?/\\\s]+/g, ' ').replace(/^[' ]+|[' ]+$/g, '')
  for (let n = 1; ; n += 1) {
    const suffix = n === 1 ? '' : ` (${n})`
    const name = wholeWords(bare, sheetNameLengthMax - suffix.length) + suffix
    // Excel reserves this name.
    if (!isTaken(name) && name.toLowerCase() !== 'history') return name
  }
}

/** Returns as many words as fit; a single word that does not fit is cut. */
function wholeWords(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  const end = text.lastIndexOf(' ', lengthMax)
  return text.slice(0, end > 0 ? end : lengthMax).replace(/['\s]+$/, '')
}
