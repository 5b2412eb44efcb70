/**
 * A report as renderers see it: nothing of where it came from, nothing of the format. Timestamps are ISO 8601 in UTC,
 * amounts plain decimal strings; null is a value that is not there.
 */
export type ReportDocument = {
  id: string
  title: string
  generatedAt: Date
  facts: Fact[]
  /** What every page says of the report, so that none can be taken for one of another: whose it is, of when, cut to what. */
  pageHead: string[]
  tables: Table[]
}

export type Fact = { label: string; value: string }
export type Table = { title: string; columns: Column[]; rows: Iterable<Row> | AsyncIterable<Row> }
export type Column = {
  key: string
  label: string
  kind: ColumnKind
  /** Left out on paper, where there is little room, because other columns of the row say the same. */
  isOmittedInPrint?: boolean
}
export type ColumnKind = 'text' | 'integer' | 'amount' | 'usd' | 'percent' | 'timestamp'
export type Cell = string | number | null
export type Row = Record<string, Cell>

/** Called now and then with the number of rows that were written since the last call. */
export type OnRows = (count: number) => void

/** Bytes of a file, made as they are asked for; nobody holds more of them than one piece. */
export type Renderer = (document: ReportDocument, onRows: OnRows) => AsyncIterable<Uint8Array>

/** The rows in lots of at most `size`, so that what is done once per lot is not done once per row. */
export async function* inLots(rows: Table['rows'], size: number): AsyncGenerator<Row[]> {
  let lot: Row[] = []
  for await (const row of rows) {
    lot.push(row)
    if (lot.length < size) continue
    yield lot
    lot = []
  }
  if (lot.length > 0) yield lot
}

/** Whether text of a column with numbers is one that no program takes for anything else. */
export function isPlainNumber(text: string): boolean {
  return /^-?[0-9]+(\.[0-9]+)?$/.test(text)
}

export function isNumeric(kind: ColumnKind): boolean {
  return kind !== 'text' && kind !== 'timestamp'
}
