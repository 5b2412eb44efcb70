import { stringify } from 'csv-stringify/sync'
import {
  type Cell,
  type Column,
  type ColumnKind,
  inLots,
  isNumeric,
  isPlainNumber,
  type OnRows,
  type ReportDocument,
  type Table,
} from '../documents/document.ts'
import { createZonedTime, type ZonedTime } from '../documents/zoned-time.ts'
import { createArchive, partBytesMax } from './archive.ts'

const rowsPerLot = 100
const byteOrderMark = '\uFEFF'

/**
 * Renders the main table of a report as CSV by RFC 4180 in UTF-8 with a byte order mark, from which spreadsheets recognise the
 * encoding. A cell that a spreadsheet might evaluate as a formula begins with an apostrophe (threat: CSV injection); negative
 * amounts are not formulas and stay as they are.
 */
export async function* renderCsv(document: ReportDocument, onRows: OnRows): AsyncGenerator<Uint8Array> {
  const table = document.tables.find(({ name }) => name === document.mainTable)
  if (table === undefined) throw new Error('A CSV file holds the main table of a report, and this one has none')
  yield* renderTable(table, document.timezone, onRows)
}

/** Renders one table as CSV, with its times on the clocks of the zone. */
export async function* renderTable(table: Table, timezone: string, onRows: OnRows): AsyncGenerator<Uint8Array> {
  yield Buffer.from(toHead(table))
  for await (const lines of linesOf(table, createZonedTime(timezone), onRows)) yield Buffer.from(lines)
}

/**
 * Renders a ZIP archive with a CSV file for each table, in their order, and `about.csv` with the facts. It is never held in
 * memory as a whole. A table that is too long for a part of an archive continues in a further file.
 */
export async function* renderCsvArchive(
  document: ReportDocument,
  onRows: OnRows,
  limits = { bytesMax: partBytesMax },
): AsyncGenerator<Uint8Array> {
  const archive = createArchive(document.generatedAt)
  const time = createZonedTime(document.timezone)
  for (const table of document.tables) {
    let files = 1
    archive.open(`${table.name}.csv`)
    archive.write(toHead(table))
    for await (const lines of linesOf(table, time, onRows)) {
      if (archive.bytesOfPart() >= limits.bytesMax) {
        yield* archive.close()
        files += 1
        archive.open(`${table.name}-${files}.csv`)
        archive.write(toHead(table))
      }
      archive.write(lines)
      yield* archive.take()
    }
    yield* archive.close()
  }
  archive.open('about.csv')
  archive.write(toAbout(document))
  yield* archive.close()
  yield* archive.end()
}

const toHead = ({ columns }: Table) => byteOrderMark + toLines([columns.map(({ key }) => key)], [])

async function* linesOf({ columns, rows }: Table, time: ZonedTime, onRows: OnRows): AsyncGenerator<string> {
  for await (const lot of inLots(rows, rowsPerLot)) {
    const lines = lot.map((row) => columns.map(({ key, kind }) => inZone(row[key] ?? null, kind, time)))
    yield toLines(lines, columns)
    onRows(lot.length)
  }
}

const inZone = (cell: Cell, kind: ColumnKind, time: ZonedTime): Cell =>
  kind === 'timestamp' && cell !== null ? time.iso(String(cell)) : cell

/** Returns the facts about the tables that a reader must know as CSV, known when all of the tables are written. */
export function toAbout({ title, facts, contentSha256 }: ReportDocument): string {
  const lines = facts.map(({ label, value, reference = '' }) => [label, value, reference])
  const all = [['fact', 'value', 'id'], ['Title', title, ''], ...lines, ['Content SHA-256', contentSha256(), '']]
  return byteOrderMark + toLines(all, [])
}

function toLines(lines: Cell[][], columns: Column[]): string {
  return stringify(
    lines.map((cells) => cells.map((cell, i) => toText(cell, columns[i]))),
    {
      record_delimiter: '\r\n',
      // Either character alone ends a line for some programs, which would read the rest as another row.
      quoted_match: /[\r\n]/,
    },
  )
}

function toText(cell: Cell, column: Column | undefined): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell)
  return column !== undefined && isNumeric(column.kind) && isPlainNumber(cell) ? cell : defuse(cell)
}

/**
 * Defuses formulas after a separator. Where semicolons or tabs separate cells, as in many European settings, a cell that
 * contains one is read as two cells, and the second could be a formula.
 */
function defuse(text: string): string {
  const inside = text.replace(/([;\t\r\n|]"*)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g, "$1'")
  return /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/.test(inside) ? `'${inside}` : inside
}
