import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { Cell, Column, ColumnKind, ReportDocument, Row, Table } from '../files/document.ts'
import { reportComponents } from './catalogue.ts'
import { toFacts } from './facts.ts'
import type { BlockLayout, Parameters, Report, ReportContent } from './report.ts'
import type { ReportRequest } from './request.ts'
import { markedKindOf } from './schema.ts'

type Json = Record<string, unknown>
/** The parts of JSON Schema that decide how a value is shown. */
type Shape = {
  $ref?: string
  type?: string
  format?: string
  anyOf?: Shape[]
  items?: Shape
  properties?: Record<string, Shape>
}
type Reading = Column & { read: (item: Json) => Cell }

const components = new Map(reportComponents.map((schema) => [(schema as { $id?: string }).$id, schema as Shape]))

/** Properties that are not blocks of the report, or are shown among the facts. */
const skipped = new Set(['report', 'nextCursor'])

/** A report as a document; `totalRows` is the number of rows of its tables, an estimate when they are streamed. */
export type OpenReport = { document: ReportDocument; totalRows: number }

/** Reads a report and passes its document to `use`; its rows can be read until `use` returns. */
export async function openDocument<Result>(
  db: Db,
  { report, member, parameters }: { report: Report; member: Member; parameters: Parameters },
  request: ReportRequest,
  use: (opened: OpenReport) => Promise<Result>,
): Promise<Result> {
  const toOpen = (content: ReportContent): OpenReport => ({
    document: toDocument(report, content, toFacts(member, request, content.report.report, parameters)),
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

/** The blocks of a report as tables, in the order and with the columns of its schema. */
export function toDocument(
  { answer, document = {} }: Pick<Report, 'answer' | 'document'>,
  { report, streams = {} }: ReportContent,
  { facts, pageHead }: Pick<ReportDocument, 'facts' | 'pageHead'>,
): ReportDocument {
  const tables: Table[] = []
  for (const [name, property] of Object.entries((answer as Shape).properties ?? {})) {
    const rows = streams[name] ?? report[name]
    if (skipped.has(name) || rows === undefined) continue
    tables.push(...toTables(name, resolve(property), rows, document.blocks?.[name] ?? {}))
  }
  const { id, type, generatedAt } = report.report
  return {
    id,
    title: toLabel(type.replaceAll('_', ' ')),
    generatedAt: new Date(generatedAt),
    facts,
    pageHead,
    tables,
  }
}

function toTables(name: string, shape: Shape, value: unknown, layout: BlockLayout): Table[] {
  const isList = shape.type === 'array'
  const properties = (isList ? resolve(shape.items!) : shape).properties ?? {}
  const items = (isList ? value : [value]) as Iterable<Json> | AsyncIterable<Json>
  const title = layout.title ?? toLabel(name)
  const readings = putFirst(layout.firstColumn, readingsOf(properties, layout.omittedInPrint ?? []))
  return [{ title, columns: readings, rows: toRows(items, readings) }, ...nestedTables(title, properties, items)]
}

function putFirst(key: string | undefined, readings: Reading[]): Reading[] {
  return [...readings.filter((one) => one.key === key), ...readings.filter((one) => one.key !== key)]
}

async function* toRows(items: Iterable<Json> | AsyncIterable<Json>, readings: Reading[]): AsyncGenerator<Row> {
  for await (const item of items) yield toRow(item, readings)
}

function toRow(item: Json, readings: Reading[]): Row {
  const row: Row = {}
  for (const { key, read } of readings) row[key] = read(item)
  return row
}

/** Lists within the rows of a table become tables of their own, whose rows begin with the key of their parent row. */
function nestedTables(title: string, properties: Record<string, Shape>, items: Iterable<Json> | AsyncIterable<Json>) {
  const tables: Table[] = []
  const parent = Object.keys(properties)[0]
  for (const [name, property] of Object.entries(properties)) {
    const shape = resolve(property)
    if (!isTable(shape) || parent === undefined || !Array.isArray(items)) continue
    const own = readingsOf(resolve(shape.items!).properties!, [])
    const origin: Column = { key: `${parent}.of`, label: toLabel(title.replace(/s$/, '')), kind: 'text' }
    const rows = (items as Json[]).flatMap((item) =>
      ((item[name] ?? []) as Json[]).map((one) => ({ [origin.key]: toText(item[parent]), ...toRow(one, own) })),
    )
    tables.push({ title: `${title}: ${name}`, columns: [origin, ...own], rows })
  }
  return tables
}

function readingsOf(properties: Record<string, Shape>, omitted: readonly string[], path: string[] = []): Reading[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const shape = resolve(property)
    const at = [...path, name]
    if (shape.properties !== undefined) return readingsOf(shape.properties, omitted, at)
    if (isTable(shape)) return []
    const key = at.join('.')
    const isOmittedInPrint = omitted.includes(key) || (path.length > 0 && name !== 'name')
    const reading: Reading = {
      key,
      label: toLabel(at.filter((part) => path.length === 0 || part !== 'name').join(' ')),
      kind: kindOf(shape),
      read: (item) => toCell(at.reduce<unknown>((value, part) => (value as Json | null)?.[part], item)),
      ...(isOmittedInPrint ? { isOmittedInPrint } : {}),
    }
    return [reading]
  })
}

/** Resolves a reference to its component, and a nullable type to the type without null. */
function resolve(shape: Shape): Shape {
  const other = shape.anyOf?.find(({ type }) => type !== 'null')
  if (other !== undefined) return resolve(other)
  if (shape.$ref === undefined) return shape
  const component = components.get(shape.$ref)
  if (component === undefined) throw new Error(`Reports have no component ${shape.$ref}`)
  return component
}

/** Lists whose items have more than a name or an amount. */
function isTable(shape: Shape): boolean {
  if (shape.type !== 'array') return false
  const names = Object.keys(resolve(shape.items!).properties ?? {})
  return names.length > 0 && !isAssetAmount(names) && !isNamed(names)
}

const isAssetAmount = (names: string[]) => names.includes('assetCode') && names.includes('amount')
const isNamed = (names: string[]) => names.length === 2 && names.includes('id') && names.includes('name')

/** The kind that the schema is marked with, or the one that follows from its type. */
function kindOf(shape: Shape): ColumnKind {
  const marked = markedKindOf(shape)
  if (marked !== undefined) return marked
  if (shape.type === 'integer' || shape.type === 'number') return 'integer'
  return shape.format === 'date-time' ? 'timestamp' : 'text'
}

function toCell(value: unknown): Cell {
  return typeof value === 'number' ? value : value === null || value === undefined ? null : toText(value)
}

function toText(value: unknown): string {
  if (Array.isArray(value)) return listToText(value)
  if (value !== null && typeof value === 'object') {
    return Object.entries(value)
      .map(([key, one]) => `${key}=${toText(one)}`)
      .join('; ')
  }
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value ?? '')
}

/** Amounts as `1.5 ETH; 20 USDT`, with the network where a code stands for several assets. */
function listToText(values: unknown[]): string {
  const codes = values.map((value) => (value as Json | null)?.assetCode)
  return values
    .map((value) => {
      if (value === null || typeof value !== 'object') return toText(value)
      const { amount, assetCode, network, name, id } = value as Json
      if (amount === undefined) return name === undefined ? toText(value) : `${name} (${id})`
      const isShared = codes.filter((code) => code === assetCode).length > 1
      return `${amount} ${assetCode}${isShared ? ` (${network})` : ''}`
    })
    .join('; ')
}

/** `grossTurnoverUsd` becomes `Gross turnover USD`. */
function toLabel(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(' ')
  const text = words.map((word) => (/^usd$/i.test(word) ? 'USD' : /^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()))
  const joined = text.join(' ')
  return joined.charAt(0).toUpperCase() + joined.slice(1)
}
