import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { Chart, ReportDocument } from '../documents/document.ts'
import type { Parameters, Report, ReportContent, ReportRequest } from '../requests/report-request.ts'
import { findSubjectNames } from '../requests/subject-names.ts'
import { hashContent } from './content-hash.ts'
import { toFacts } from './report-facts.ts'
import { resolveShape, type Shape, toLabel, toTables } from './tables.ts'

/** Properties that are not blocks of the report, or are shown among the facts. */
const skipped = new Set(['report', 'nextCursor'])

/** A report as a document. `totalRows` is the number of rows of its tables, an estimate when they are streamed. */
export type OpenReport = { document: ReportDocument; totalRows: number }

/** Reads a report and passes its document to `use`; its rows can be read until `use` returns. */
export async function openDocument<Result>(
  db: Db,
  { report, member, parameters }: { report: Report; member: Member; parameters: Parameters },
  request: ReportRequest,
  use: (opened: OpenReport) => Promise<Result>,
): Promise<Result> {
  const names = await findSubjectNames(db, request.filter.scope, parameters)
  const toOpen = (content: ReportContent): OpenReport => ({
    document: toDocument(report, content, toFacts(member, request, content.report.report, parameters, names)),
    totalRows: content.totalRows ?? countRows(content.report),
  })
  const open = report.document?.open
  if (open !== undefined) return open(db, request, (content) => use(toOpen(content)))
  // The size of the other reports does not grow with operations: the transaction ends before the file is written.
  const answer = (await report.build(db, request)) as ReportContent['report']
  return use(toOpen({ report: answer }))
}

function countRows(report: Record<string, unknown>): number {
  return Object.values(report).reduce<number>((sum, block) => sum + (Array.isArray(block) ? block.length : 1), 0)
}

/** Returns the blocks of a report as tables, in the order and with the columns of its schema. */
export function toDocument(
  { answer, document = {} }: Pick<Report, 'answer' | 'document'>,
  content: ReportContent,
  { facts, pageHead }: Pick<ReportDocument, 'facts' | 'pageHead'>,
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
  return {
    id,
    title: toLabel(type.replaceAll('_', ' ')),
    generatedAt: new Date(generatedAt),
    timezone,
    facts,
    pageHead,
    chart: toChart(report.timeline),
    tables,
    contentSha256: sha256,
  }
}

type Period = Record<'periodStart' | 'incomingUsd' | 'outgoingUsd' | 'netFlowUsd', string>

/** Returns the flows of every bucket of time, for the reports that have buckets; null for others. */
function toChart(timeline: unknown): Chart | null {
  if (!Array.isArray(timeline)) return null
  const points = (timeline as Period[]).map(({ periodStart, incomingUsd, outgoingUsd, netFlowUsd }) => ({
    start: new Date(periodStart),
    incoming: Number(incomingUsd),
    outgoing: Number(outgoingUsd),
    net: Number(netFlowUsd),
  }))
  return { title: 'Incoming, outgoing and net flow over time', unit: 'USD', points }
}
