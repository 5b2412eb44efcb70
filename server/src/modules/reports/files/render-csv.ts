import { stringify } from 'csv-stringify/sync'
import {
  type Cell,
  type Column,
  inLots,
  isNumeric,
  isPlainNumber,
  type OnRows,
  type ReportDocument,
} from './document.ts'

const rowsPerLot = 100
const byteOrderMark = '\uFEFF'

/**
 * CSV by RFC 4180 in UTF-8 with a byte order mark, from which spreadsheets recognise the encoding: the facts, then every
 * table under its title, an empty line before each. A cell that a spreadsheet might evaluate as a formula begins with an
 * apostrophe (threat: CSV injection); negative amounts are not formulas and stay as they are.
 */
export async function* renderCsv(document: ReportDocument, onRows: OnRows): AsyncGenerator<Uint8Array> {
  const facts = document.facts.map(({ label, value }) => [label, value])
  yield Buffer.from(byteOrderMark + toLines([[document.title], ...facts], []))
  for (const { title, columns, rows } of document.tables) {
    yield Buffer.from(`\r\n${toLines([[title], columns.map(({ key }) => key)], [])}`)
    for await (const lot of inLots(rows, rowsPerLot)) {
      const lines = lot.map((row) => columns.map(({ key }) => row[key] ?? null))
      yield Buffer.from(toLines(lines, columns))
      onRows(lot.length)
    }
  }
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
 * Where semicolons or tabs separate cells, as in many European settings, a cell that contains one is read as two cells,
 * and the second could be a formula.
 */
function defuse(text: string): string {
  const inside = text.replace(/([;\t\r\n|])(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g, "$1'")
  return /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/.test(inside) ? `'${inside}` : inside
}
