import type { Fact, OnRows, ReportDocument, Table } from '../documents/document.ts'
import { printTime } from '../documents/print.ts'
import { wordsOf } from '../documents/words.ts'
import { createZonedTime } from '../documents/zoned-time.ts'
import { drawChart } from './pdf-chart.ts'
import { wrap } from './pdf-layout.ts'
import { leftEdge, Pages, pageWidth } from './pdf-pages.ts'
import { drawTable } from './pdf-table.ts'
import { fromLeft } from './typesetter.ts'

const title = { size: 16, lineHeight: 24 }
const notice = { size: 9, height: 16 }
const fact = { size: 8.5, lineHeight: 12, labelWidth: 150, gray: 0.38 }

/**
 * Renders a report as a PDF on A4, in an embedded font and in the language of its reader: the title block, the table that leads from
 * the opening to the closing balance, facts, a chart if the report has buckets of time, then the other tables. The header of a table
 * is repeated on every page, the decimal points of a column are aligned, long text is wrapped, and rows that belong together are
 * kept on a page. The head of every page identifies the report by subject, interval and filters. The foot has the page number, the
 * number of pages and the id of the report, and on the last page the hash of the content. Times are shown to the second in the time
 * zone of the report.
 */
export async function* renderPdf(
  document: ReportDocument,
  onRows: OnRows,
  { isCompressed = true }: { isCompressed?: boolean } = {},
): AsyncGenerator<Uint8Array> {
  const { print, generatedAt } = document
  const time = createZonedTime(document.timezone)
  const words = wordsOf(print.language)
  const generated = { time: printTime(generatedAt, time, words.language), zone: time.zone }
  const pages = new Pages({
    title: print.title,
    pageHead: print.pageHead,
    footer: words.text('footer', { id: document.id, ...generated }),
    words,
    createdAt: generatedAt,
    isCompressed,
  })
  async function* draw(tables: readonly Table[]) {
    for (const table of tables) {
      for await (const count of drawTable(pages, table, time)) {
        yield* pages.take()
        onRows(count)
      }
    }
  }
  pages.add()
  drawTitle(pages, document)
  const first = document.tables.filter(({ printedAt }) => printedAt === 'first')
  yield* draw(print.lead === null ? first : [print.lead, ...first])
  drawFacts(pages, print.facts, fact.lineHeight)
  if (document.chart !== null) drawChart(pages, document.chart, time)
  yield* draw(document.tables.filter(({ printedAt }) => printedAt === undefined))
  pages.end(words.text('contentHash', { hash: document.contentSha256() }))
  yield* pages.take()
}

function drawTitle(pages: Pages, { print }: ReportDocument): void {
  pages.moveDown(title.size)
  const text = pages.printable(print.title)
  pages.element('H1', () => pages.text(leftEdge, pages.y(), text, { font: 'bold', size: title.size }))
  pages.moveDown(title.lineHeight - title.size)
  drawFacts(pages, print.block, 0)
  if (print.notice === null) return
  pages.moveDown(notice.height)
  const warning = pages.printable(print.notice)
  pages.element('P', () => pages.text(leftEdge, pages.y(), warning, { font: 'bold', size: notice.size }))
}

function drawFacts(pages: Pages, facts: readonly Fact[], before: number): void {
  const room = pageWidth - fact.labelWidth
  if (facts.length > 0) pages.moveDown(before)
  for (const { label, value } of facts) {
    const lines = wrap(fromLeft(pages.printable(value)), pages.widths.regular, fact.size, room)
    if (pages.room() < fact.lineHeight) pages.add()
    pages.element('P', () => {
      for (const [i, line] of lines.entries()) {
        if (pages.room() < fact.lineHeight) pages.add()
        pages.moveDown(fact.lineHeight)
        if (i === 0) pages.text(leftEdge, pages.y(), pages.printable(label), { size: fact.size, gray: fact.gray })
        pages.text(leftEdge + fact.labelWidth, pages.y(), line, { size: fact.size })
      }
    })
  }
}
