import type { TSchema } from 'typebox'
import type { Cell, Column, ColumnKind, ReportDocument, Row, Table } from '../files/document.ts'
import { reportComponents } from '../reports/schema.ts'

type Json = Record<string, unknown>
/** JSON Schema, as far as it says how a value is shown. */
type Shape = {
  $ref?: string
  type?: string
  format?: string
  pattern?: string
  description?: string
  anyOf?: Shape[]
  items?: Shape
  properties?: Record<string, Shape>
}
type Reading = Column & { read: (item: Json) => Cell }

export type ReportContent = {
  /** The answer in JSON; blocks that are streamed may be missing. */
  report: Json & { report: Json & { id: string; type: string; generatedAt: string } }
  /** Rows of a block that is too long to be held. */
  streams?: Record<string, AsyncIterable<object>>
}

const components = new Map(reportComponents.map((schema) => [(schema as { $id?: string }).$id, schema as Shape]))

/** What is no block of the report, or stands among the facts. */
const skipped = new Set(['report', 'nextCursor'])
const titles: Record<string, string> = { items: 'Operations', lines: 'Postings' }
/** What a reader looks for first. */
const leading: Record<string, string> = { items: 'createdAt', lines: 'createdAt' }
const omittedInPrint: Record<string, readonly string[]> = {
  lines: ['id', 'operationType'],
  items: ['operationType', 'addressId', 'tokenId'],
}
/** Figures whose unit depends on the row, so that their schema is that of any text. */
const amounts = new Set(['currentValue', 'comparisonValue', 'sum', 'minimum', 'maximum'])

/** The blocks of a report as tables, in the order and with the columns of its schema. */
export function toDocument(
  schema: TSchema,
  { report, streams = {} }: ReportContent,
  { facts, pageHead }: Pick<ReportDocument, 'facts' | 'pageHead'>,
): ReportDocument {
  const tables: Table[] = []
  for (const [name, property] of Object.entries((schema as Shape).properties ?? {})) {
    const rows = streams[name] ?? report[name]
    if (skipped.has(name) || rows === undefined) continue
    tables.push(...toTables(name, resolve(property), rows))
  }
  return {
    id: report.report.id,
    title: titleOf(report.report.type),
    generatedAt: new Date(report.report.generatedAt),
    facts,
    pageHead,
    tables,
  }
}

export function titleOf(reportType: string): string {
  return toLabel(reportType.replaceAll('_', ' '))
}

function toTables(name: string, shape: Shape, value: unknown): Table[] {
  const isList = shape.type === 'array'
  const properties = (isList ? resolve(shape.items!) : shape).properties ?? {}
  const items = (isList ? value : [value]) as Iterable<Json> | AsyncIterable<Json>
  const title = titles[name] ?? toLabel(name)
  const readings = putFirst(leading[name], readingsOf(properties, omittedInPrint[name] ?? []))
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

/** Lists within the rows of a table are tables of their own, whose rows begin with the key of the row they are from. */
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
      kind: kindOf(name, shape),
      read: (item) => toCell(at.reduce<unknown>((value, part) => (value as Json | null)?.[part], item)),
      ...(isOmittedInPrint ? { isOmittedInPrint } : {}),
    }
    return [reading]
  })
}

/** A component by its name, and what may be null as what it is otherwise. */
function resolve(shape: Shape): Shape {
  const other = shape.anyOf?.find(({ type }) => type !== 'null')
  if (other !== undefined) return resolve(other)
  if (shape.$ref === undefined) return shape
  const component = components.get(shape.$ref)
  if (component === undefined) throw new Error(`Reports have no component ${shape.$ref}`)
  return component
}

/** Lists of what has more than a name or an amount. */
function isTable(shape: Shape): boolean {
  if (shape.type !== 'array') return false
  const names = Object.keys(resolve(shape.items!).properties ?? {})
  return names.length > 0 && !isAssetAmount(names) && !isNamed(names)
}

const isAssetAmount = (names: string[]) => names.includes('assetCode') && names.includes('amount')
const isNamed = (names: string[]) => names.length === 2 && names.includes('id') && names.includes('name')

function kindOf(name: string, { type, format, pattern, description }: Shape): ColumnKind {
  if (type === 'integer') return 'integer'
  if (type === 'number') return name.endsWith('Percent') ? 'percent' : 'integer'
  if (format === 'date-time') return 'timestamp'
  if (pattern?.startsWith('^-?')) return 'usd'
  return description === 'Decimal, in token units.' || amounts.has(name) ? 'amount' : 'text'
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

/** `grossTurnoverUsd` reads as `Gross turnover USD`. */
function toLabel(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(' ')
  const text = words.map((word) => (/^usd$/i.test(word) ? 'USD' : /^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()))
  const joined = text.join(' ')
  return joined.charAt(0).toUpperCase() + joined.slice(1)
}
