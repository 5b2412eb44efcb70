import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import { findLastSeal } from '../../record/seals/queries.ts'
import { sealLogs } from '../../record/seals/seal-content.ts'
import type { Chart, ReportDocument } from '../documents/document.ts'
import { wordsOf } from '../documents/words.ts'
import type { Parameters, Report, ReportContent, ReportRequest } from '../requests/report-request.ts'
import { findSubjectNames } from '../requests/subject-names.ts'
import { hashContent } from './content-hash.ts'
import { toFacts } from './report-facts.ts'
import { type PrintSource, toPrint } from './report-print.ts'
import { resolveShape, type Shape, toFileName, toLabel, toTables } from './tables.ts'

/** Properties that are not blocks of the report, or are shown among the facts. */
const skipped = new Set(['report', 'nextCursor'])

/** A report as a document. `totalRows` is the number of rows of its tables, an estimate when they are streamed. */
type OpenReport = { document: ReportDocument; totalRows: number }

/** A report with its viewer, its parameters and the name of the organisation, for the title block of pages. */
type FileOrder = { report: Report; member: Member; parameters: Parameters; organisationName: string | null }

/** Reads a report and passes its document to `use`; its rows can be read until `use` returns. */
export async function openDocument<Result>(
  db: Db,
  { report, member, parameters, organisationName }: FileOrder,
  request: ReportRequest,
  use: (opened: OpenReport) => Promise<Result>,
): Promise<Result> {
  const names = await findSubjectNames(db, request.filter.scope, parameters)
  const print = toPrint({ organisationName, member, request, parameters, names, heads: await readHeads(db, member) })
  const toOpen = (content: ReportContent): OpenReport => {
    const facts = toFacts(member, request, content.report.report, parameters, names)
    return {
      document: toDocument(report, content, { facts, print }),
      totalRows: content.totalRows ?? countRows(content.report),
    }
  }
  const open = report.document?.open
  if (open !== undefined) return open(db, request, (content) => use(toOpen(content)))
  // The size of the other reports does not grow with operations: the transaction ends before the file is written.
  const answer = (await report.build(db, request)) as ReportContent['report']
  return use(toOpen({ report: answer }))
}

/** Returns the newest seals of the vault, for readers of the whole vault, who may read them. */
async function readHeads(db: Db, { readsAll, vault }: Member): Promise<PrintSource['heads']> {
  if (!readsAll) return []
  const heads: PrintSource['heads'][number][] = []
  // One after the other: the files that are being sent hold the connections of this database.
  for (const log of sealLogs) {
    const head = await findLastSeal(db, log, vault.id)
    if (head !== undefined) heads.push({ log, sequence: Number(head.sequence), hash: head.hash.toString('hex') })
  }
  return heads
}

function countRows(report: Record<string, unknown>): number {
  return Object.values(report).reduce<number>((sum, block) => sum + (Array.isArray(block) ? block.length : 1), 0)
}

/** Returns the blocks of a report as tables, in the order and with the columns of its schema. */
export function toDocument(
  { answer, document = {} }: Pick<Report, 'answer' | 'document'>,
  content: ReportContent,
  { facts, print }: { facts: ReportDocument['facts']; print: ReturnType<typeof toPrint> },
): ReportDocument {
  const { report, columns = {} } = content
  const { streams, sha256 } = hashContent(content)
  const tables = Object.entries((answer as Shape).properties ?? {}).flatMap(([name, property]) => {
    const items = streams[name] ?? report[name]
    const layout = document.blocks?.[name] ?? {}
    if (skipped.has(name) || items === undefined || layout.isOmitted === true) return []
    return toTables(name, resolveShape(property), items, { ...layout, columns: columns[name] ?? [] })
  })
  const { id, type, generatedAt, timezone } = report.report
  const lead = document.lead?.(report, wordsOf(print.language)) ?? { block: [], facts: [], lead: null }
  return {
    id,
    title: toLabel(type.replaceAll('_', ' ')),
    generatedAt: new Date(generatedAt),
    timezone,
    facts,
    print: {
      ...print,
      block: [...print.block, ...lead.block],
      facts: [...print.facts, ...lead.facts],
      lead: lead.lead,
    },
    chart: toChart(report.timeline, wordsOf(print.language).text('chart')),
    tables,
    mainTable: document.mainBlock === undefined ? null : toFileName(document.mainBlock),
    contentSha256: sha256,
  }
}

type Period = Record<'periodStart' | 'incomingUsd' | 'outgoingUsd' | 'netFlowUsd', string>

/** Returns the flows of every bucket of time, for the reports that have buckets; null for others. */
function toChart(timeline: unknown, title: string): Chart | null {
  // The periods of a report of fees have no flows.
  if (!Array.isArray(timeline) || !timeline.every((period) => 'incomingUsd' in period)) return null
  const points = (timeline as Period[]).map(({ periodStart, incomingUsd, outgoingUsd, netFlowUsd }) => ({
    start: new Date(periodStart),
    incoming: Number(incomingUsd),
    outgoing: Number(outgoingUsd),
    net: Number(netFlowUsd),
  }))
  return { title, unit: 'USD', points }
}
