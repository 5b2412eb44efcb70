import type { Language } from './words.ts'

/**
 * A report in the form that renderers take, independent of its source and of the format. Timestamps are ISO 8601 in UTC,
 * amounts plain decimal strings; null is a missing value.
 */
export type ReportDocument = {
  id: string
  title: string
  generatedAt: Date
  /** The IANA zone in which files show times. */
  timezone: string
  facts: Fact[]
  /** The parts that pages have in the place of the facts, in the words of their reader. */
  print: Print
  /** The chart; null when the report has no buckets of time. */
  chart: Chart | null
  tables: Table[]
  /** The name of the table that a CSV of a single table contains; null if the report has no main table. */
  mainTable: string | null
  /** Returns the SHA-256 of the content in hexadecimal digits. It is known only after all rows were read. */
  contentSha256(): string
}

/** The parts of a report that only pages have, in the language of their reader. */
export type Print = {
  language: Language
  title: string
  /** The title block: vault, subject, period, author and head of the record. */
  block: Fact[]
  /** A warning below the title block, such as that the period has not ended; null without one. */
  notice: string | null
  facts: Fact[]
  /** The text at the head of every page, which identifies the report: its subject, interval and filters. */
  pageHead: string[]
  /** The table on the first page that leads from the opening to the closing; null if the report has none. */
  lead: Table | null
}

/** `reference` is the id behind a name: programs need it, and readers of a page do not. */
export type Fact = { label: string; value: string; reference?: string }

export type Table = {
  /** The name of its file: lower-case letters, digits and hyphens. */
  name: string
  title: string
  columns: Column[]
  rows: Iterable<Row> | AsyncIterable<Row>
  /** The columns of a page, where they differ from the columns that are not omitted. */
  printed?: PrintedColumn[]
  /** Returns the subject of a row, as the heading above it where a page shows the row as a block. */
  headingOf?(row: Row): string
  /** Rows with the same heading follow each other; a page shows the heading once above them. */
  isGrouped?: boolean
  /** The place of the table on pages: the first page, or none; without it, its place among the tables. */
  printedAt?: 'first' | 'nowhere'
  /** Returns false for a row that pages leave out. */
  isPrinted?(row: Row): boolean
}
export type Column = {
  key: string
  label: string
  kind: ColumnKind
  /** True if the column is omitted in PDF, where there is little room, because other columns of the row hold the same. */
  isOmittedInPrint?: boolean
  /** The wording of its texts: values of an enumeration, or sentences of the service. */
  wording?: Wording
}
export type Wording = 'code' | 'sentence'
/**
 * A column of a page. Several values are below each other, or side by side with `separator` between them; with `isLabelled`
 * each value has the label of its column before it.
 */
export type PrintedColumn = {
  label: string
  kind: ColumnKind
  keys: readonly string[]
  separator?: string
  isLabelled?: boolean
  /** True if the value is omitted where the heading of a row has it. */
  isInHeading?: boolean
}
export type ColumnKind = 'text' | 'integer' | 'amount' | 'usd' | 'percent' | 'timestamp'
export type Cell = string | number | null
export type Row = Record<string, Cell>

/** Flows per bucket of time, in one unit. The numbers are for drawing only; tables hold the exact figures. */
export type Chart = { title: string; unit: string; points: ChartPoint[] }
type ChartPoint = { start: Date; incoming: number; outgoing: number; net: number }

/** Called from time to time with the number of rows that were written since the last call. */
export type OnRows = (count: number) => void

/** Produces the bytes of a file on demand; no more than one piece is held in memory. */
export type Renderer = (document: ReportDocument, onRows: OnRows) => AsyncIterable<Uint8Array>

/** Yields the rows in batches of at most `size`, so that work per batch is not repeated for every row. */
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

/** Returns true if the text of a numeric column is a plain number for every program. */
export function isPlainNumber(text: string): boolean {
  return /^-?[0-9]+(\.[0-9]+)?$/.test(text)
}

export function isNumeric(kind: ColumnKind): boolean {
  return kind !== 'text' && kind !== 'timestamp'
}
