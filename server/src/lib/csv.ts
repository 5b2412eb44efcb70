import type { FieldFault } from './errors.ts'

/** A row of a file, with the line on which it begins: a cell in quotes may have line breaks, so that lines are not rows. */
export type CsvRow = { line: number; cells: string[] }

/**
 * Reads CSV strictly as RFC 4180 describes it: text that two programs read differently must not become a payment. Cells are
 * kept as they are. The first line names the columns and decides the separator, `,` or `;`. Lines end with CRLF or LF, and
 * empty lines are ignored. A byte order mark at the beginning is left out.
 */
export function readCsv(text: string): { header: string[]; rows: CsvRow[] } | { faults: FieldFault[] } {
  const bare = text.startsWith('\uFEFF') ? text.slice(1) : text
  const separator = separatorOf(bare)
  if (separator === null) return faultAt(1, 'uses both commas and semicolons as separators')
  const reader = new Reader(bare, separator)
  const rows: CsvRow[] = []
  while (!reader.isDone()) {
    const line = reader.line
    const cells = reader.readRow()
    if (typeof cells === 'string') return faultAt(reader.line, cells)
    if (cells.length > 1 || cells[0] !== '') rows.push({ line, cells })
  }
  const [header, ...rest] = rows
  if (header === undefined) return faultAt(1, 'must name the columns')
  const ragged = rest.filter(({ cells }) => cells.length !== header.cells.length)
  if (ragged.length === 0) return { header: header.cells, rows: rest }
  return {
    faults: ragged.map(({ line, cells }) => ({
      line,
      field: 'line',
      message: `has ${cells.length} cells, and the first line names ${header.cells.length} columns`,
    })),
  }
}

function faultAt(line: number, message: string): { faults: FieldFault[] } {
  return { faults: [{ line, field: 'line', message }] }
}

/** Returns the separator of the header, or null when the header has both. A single column needs no separator. */
function separatorOf(text: string): ',' | ';' | null {
  const first = /^[\r\n]*([^\r\n]*)/.exec(text)![1]!
  if (first.includes(',') && first.includes(';')) return null
  return first.includes(';') ? ';' : ','
}

class Reader {
  /** The number of the next line, from 1. */
  line = 1
  #at = 0
  readonly #text: string
  readonly #separator: string

  constructor(text: string, separator: string) {
    this.#text = text
    this.#separator = separator
  }

  isDone(): boolean {
    return this.#at >= this.#text.length
  }

  /** Returns the cells up to the end of the row, or the fault. */
  readRow(): string[] | string {
    const cells: string[] = []
    for (;;) {
      const cell = this.#text[this.#at] === '"' ? this.#readQuoted() : { text: this.#readPlain() }
      if ('fault' in cell) return cell.fault
      cells.push(cell.text)
      const next = this.#text[this.#at]
      if (next === this.#separator) {
        this.#at += 1
        continue
      }
      if (next === undefined) return cells
      if (this.#text.startsWith('\r\n', this.#at)) this.#at += 2
      else if (next === '\n') this.#at += 1
      else return next === '"' ? 'has a quote within a cell that does not begin with one' : strayOf(next)
      this.line += 1
      return cells
    }
  }

  #readPlain(): string {
    const from = this.#at
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at]!
      if (char === this.#separator || char === '\n' || char === '\r' || char === '"') break
      this.#at += 1
    }
    return this.#text.slice(from, this.#at)
  }

  #readQuoted(): { text: string } | { fault: string } {
    let text = ''
    this.#at += 1
    for (;;) {
      const end = this.#text.indexOf('"', this.#at)
      if (end === -1) return { fault: 'begins a cell with a quote that is not closed' }
      text += this.#text.slice(this.#at, end)
      this.#at = end + 1
      if (this.#text[this.#at] !== '"') break
      text += '"'
      this.#at += 1
    }
    this.line += text.split('\n').length - 1
    return { text }
  }
}

function strayOf(char: string): string {
  return char === '\r' ? 'ends with a carriage return alone' : 'goes on after the closing quote of a cell'
}
