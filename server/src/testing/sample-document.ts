import type { Column, ReportDocument, Row, Table } from '../modules/reports/files/document.ts'

/** A report as renderers take it, with minimal values for the parts that a test does not set. */
export function sampleDocument(parts: Partial<ReportDocument> = {}): ReportDocument {
  return {
    id: 'cmi8h2k1p0a1b2c3d4e5f6g7h',
    title: 'Account statement',
    generatedAt: new Date('2026-02-01T10:00:00.000Z'),
    facts: [{ label: 'Vault', value: 'Main vault (main-vault)' }],
    pageHead: ['Main vault (main-vault) · 2026-01-01 00:00:00 to 2026-02-01 00:00:00 Europe/Berlin'],
    tables: [],
    ...parts,
  }
}

export function sampleTable(columns: Column[], rows: Iterable<Row>, title = 'Postings'): Table {
  return {
    title,
    columns,
    // As they come from a database: one after the other.
    rows: (async function* () {
      yield* rows
    })(),
  }
}

export async function bytesOf(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  return Buffer.concat(all)
}
