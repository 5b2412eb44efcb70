import type { Renderer } from '../documents/document.ts'
import { renderCsv, renderCsvArchive } from '../spreadsheets/render-csv.ts'
import { renderXlsx } from '../spreadsheets/render-xlsx.ts'

/** The formats that a caller may ask for. */
export const fileFormats = ['csv', 'xlsx', 'pdf'] as const
export type FileFormat = (typeof fileFormats)[number]

/** The types of a file by extension: CSV of a report with several tables is an archive. */
const fileKinds = ['csv', 'zip', 'xlsx', 'pdf'] as const
export type FileKind = (typeof fileKinds)[number]

export const mediaTypes: Record<FileKind, string> = {
  csv: 'text/csv; charset=utf-8',
  zip: 'application/zip',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pdf: 'application/pdf',
}

export const renderers: Record<FileKind, Renderer> = {
  csv: renderCsv,
  zip: renderCsvArchive,
  xlsx: renderXlsx,
  // The import also loads fonts, which takes a fifth of a second, and most nodes never need it.
  async *pdf(document, onRows) {
    const { renderPdf } = await import('../pdf/render-pdf.ts')
    yield* renderPdf(document, onRows)
  },
}

type WithMainBlock = { document?: { mainBlock?: string } }

/** Returns the type of the file of a report in this format; `tables` of the parameters asks for an archive of all tables. */
export function fileKindOf(
  format: FileFormat,
  { document }: WithMainBlock,
  { tables }: { tables?: unknown } = {},
): FileKind {
  return format === 'csv' && (document?.mainBlock === undefined || tables === 'all') ? 'zip' : format
}

/** Returns a file name of ASCII letters, digits, hyphens and underscores: safe in a header and on every disk. */
export function fileNameOf(reportType: string, id: string, kind: FileKind): string {
  return `${reportType}-${id}.${kind}`
}

/** Returns the media types of the files of a report, in the form used in API documents: without parameters. */
export function fileMediaTypesOf(report: WithMainBlock): string[] {
  const kinds = fileFormats.flatMap((format) => [
    fileKindOf(format, report),
    fileKindOf(format, report, { tables: 'all' }),
  ])
  return [...new Set(kinds)].map((kind) => bare(mediaTypes[kind]))
}

/** The media types of the files of all reports. */
export const fileMediaTypes: string[] = fileKinds.map((kind) => bare(mediaTypes[kind]))

function bare(mediaType: string): string {
  return mediaType.split(';')[0]!
}
