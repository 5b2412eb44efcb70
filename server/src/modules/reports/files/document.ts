/**
 * A report in the form that renderers take, independent of its source and of the format. Timestamps are ISO 8601 in UTC,
 * amounts plain decimal strings; null is a missing value.
 */
export type ReportDocument = {
  id: string
  title: string
  generatedAt: Date
  facts: Fact[]
  /** The text at the head of every page, which identifies the report: its subject, interval and filters. */
  pageHead: string[]
  tables: Table[]
}

export type Fact = { label: string; value: string }
export type Table = { title: string; columns: Column[]; rows: Iterable<Row> | AsyncIterable<Row> }
export type Column = {
  key: string
  label: string
  kind: ColumnKind
  /** Left out in PDF, where there is little room, because other columns of the row hold the same. */
  isOmittedInPrint?: boolean
}
export type ColumnKind = 'text' | 'integer' | 'amount' | 'usd' | 'percent' | 'timestamp'
export type Cell = string | number | null
export type Row = Record<string, Cell>

/** Called now and then with the number of rows that were written since the last call. */
export type OnRows = (count: number) => void

/** Bytes of a file, produced on demand; no more than one piece is held in memory. */
export type Renderer = (document: ReportDocument, onRows: OnRows) => AsyncIterable<Uint8Array>

/** The rows in batches of at most `size`, so that work per batch is not repeated for every row. */
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

/** Whether the text of a numeric column is a plain number for every program. */
export function isPlainNumber(text: string): boolean {
  return /^-?[0-9]+(\.[0-9]+)?$/.test(text)
}

export function isNumeric(kind: ColumnKind): boolean {
  return kind !== 'text' && kind !== 'timestamp'
}
