import type { Column, Print, ReportDocument, Row, Table } from '../modules/reports/documents/document.ts'

export const sampleSha256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

type Parts = Partial<Omit<ReportDocument, 'print'>> & { pageHead?: string[]; print?: Partial<Print> }

/** Returns a report as renderers take it, with minimal values for the parts that a test does not set. */
export function sampleDocument({ pageHead, print, ...parts }: Parts = {}): ReportDocument {
  const facts = parts.facts ?? [{ label: 'Vault', value: 'Main vault (main-vault)' }]
  return {
    id: 'cmi8h2k1p0a1b2c3d4e5f6g7h',
    title: 'Account statement',
    generatedAt: new Date('2026-02-01T10:00:00.000Z'),
    timezone: 'Europe/Berlin',
    print: {
      language: 'en',
      title: 'Account statement',
      block: [],
      notice: null,
      facts,
      pageHead: pageHead ?? ['Main vault (main-vault) · 2026-01-01 00:00:00 to 2026-02-01 00:00:00 Europe/Berlin'],
      lead: null,
      ...print,
    },
    chart: null,
    tables: [],
    mainTable: parts.tables?.[0]?.name ?? null,
    contentSha256: () => sampleSha256,
    ...parts,
    facts,
  }
}

export function sampleTable(columns: Column[], rows: Iterable<Row>, title = 'Postings'): Table {
  return {
    name: title.toLowerCase().replaceAll(' ', '-'),
    title,
    columns,
    // The rows arrive one after the other, as from a database.
    rows: (async function* () {
      yield* rows
    })(),
  }
}

export async function bytesOf(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const part of parts) chunks.push(part)
  return Buffer.concat(chunks)
}
