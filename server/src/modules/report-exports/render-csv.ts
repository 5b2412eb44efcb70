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

const rowsPerLot = 500
const byteOrderMark = '\uFEFF'

/**
 * CSV by RFC 4180 in UTF-8 with a byte order mark, which is how spreadsheets know the encoding: the facts, then every
 * table under its title, an empty line before each. Whatever a spreadsheet might take for a formula begins with an
 * apostrophe (threat: CSV injection); amounts below zero are no formulas and stay as they are.
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
  return stringify(lines, {
    record_delimiter: '\r\n',
    escape_formulas: true,
    cast: {
      string: (text, { index }) => {
        const column = columns[index]
        const isNumber = column !== undefined && isNumeric(column.kind) && isPlainNumber(text)
        return isNumber ? { value: text, escape_formulas: false } : defuseInside(text)
      },
    },
  })
}

/**
 * Where semicolons or tabs separate cells, as in many European settings, a cell of ours that holds one is opened as two,
 * and the second would be a formula.
 */
function defuseInside(text: string): string {
  return text.replace(/([;\t\r\n|])(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g, "$1'")
}
