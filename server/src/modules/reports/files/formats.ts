import type { Renderer } from './document.ts'
import { renderCsv } from './render-csv.ts'
import { renderPdf } from './render-pdf.ts'
import { renderXlsx } from './render-xlsx.ts'

export const fileFormats = ['csv', 'xlsx', 'pdf'] as const
export type FileFormat = (typeof fileFormats)[number]

export const mediaTypes: Record<FileFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pdf: 'application/pdf',
}

const renderers: Record<FileFormat, Renderer> = { csv: renderCsv, xlsx: renderXlsx, pdf: renderPdf }

export function render(format: FileFormat, ...[document, onRows]: Parameters<Renderer>): AsyncIterable<Uint8Array> {
  return renderers[format](document, onRows)
}

/** A file name of ASCII letters, digits, hyphens and underscores: safe in a header and on every disk. */
export function fileNameOf(reportType: string, id: string, format: FileFormat): string {
  return `${reportType}-${id}.${format}`
}

/** The form used in API documents: without parameters. */
export const fileMediaTypes: string[] = Object.values(mediaTypes).map((type) => type.split(';')[0]!)
