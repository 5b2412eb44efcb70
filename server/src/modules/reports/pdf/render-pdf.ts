import type { OnRows, ReportDocument } from '../documents/document.ts'
import { createZonedTime } from '../documents/zoned-time.ts'
import { drawChart } from './pdf-chart.ts'
import { wrap } from './pdf-layout.ts'
import { leftEdge, Pages, pageWidth } from './pdf-pages.ts'
import { drawTable } from './pdf-table.ts'

const title = { size: 16, lineHeight: 22 }
const fact = { size: 8.5, lineHeight: 12, labelWidth: 104, gray: 0.38 }

/**
 * PDF on A4 in an embedded font: title and facts, a chart where the report has buckets of time, then the tables. The header of
 * a table is repeated on every page, the decimal points of a column are below each other, long text is wrapped, and rows that
 * belong together are kept on a page. The head of every page identifies the report by subject, interval and filters. The foot
 * has the page number, the number of pages and the id of the report, and on the last page the hash of the content. Times are
 * shown to the second on the clocks of the zone.
 */
export async function* renderPdf(
  document: ReportDocument,
  onRows: OnRows,
  { isCompressed = true }: { isCompressed?: boolean } = {},
): AsyncGenerator<Uint8Array> {
  const time = createZonedTime(document.timezone)
  const pages = new Pages({
    title: document.title,
    pageHead: document.pageHead,
    footer: `Report ${document.id} · generated at ${time.print(document.generatedAt)} ${time.zone}`,
    createdAt: document.generatedAt,
    isCompressed,
  })
  pages.add()
  drawTop(pages, document)
  if (document.chart !== null) drawChart(pages, document.chart, time)
  for (const table of document.tables) {
    for await (const count of drawTable(pages, table, time)) {
      yield* pages.take()
      onRows(count)
    }
  }
  pages.end(`SHA-256 of the content: ${document.contentSha256()}`)
  yield* pages.take()
}

function drawTop(pages: Pages, document: ReportDocument): void {
  pages.moveDown(title.size)
  pages.text(leftEdge, pages.y(), pages.printable(document.title), { font: 'bold', size: title.size })
  pages.moveDown(title.lineHeight - title.size + 4)
  const room = pageWidth - fact.labelWidth
  for (const { label, value } of document.facts) {
    const lines = wrap(pages.printable(value), pages.widths.regular, fact.size, room)
    for (const [i, line] of lines.entries()) {
      if (pages.room() < fact.lineHeight) pages.add()
      pages.moveDown(fact.lineHeight)
      if (i === 0) pages.text(leftEdge, pages.y(), pages.printable(label), { size: fact.size, gray: fact.gray })
      pages.text(leftEdge + fact.labelWidth, pages.y(), line, { size: fact.size })
    }
  }
}
