import { compareText } from '../blocks/flows.ts'
import type { Cell, Column, ColumnKind, PrintedColumn, Row, Table } from '../documents/document.ts'
import { isNumeric } from '../documents/document.ts'
import type { BlockLayout, ExtraColumn } from '../requests/report-request.ts'
import { markedKindOf, markedWordingOf } from '../requests/schema.ts'
import { reportComponents } from './catalogue.ts'

/** Converts the blocks of an answer to tables, whose columns follow from the schema of the answer. */

type Json = Record<string, unknown>
/** The parts of JSON Schema that decide how a value is shown. */
export type Shape = {
  $ref?: string
  type?: string
  format?: string
  enum?: unknown[]
  anyOf?: Shape[]
  items?: Shape
  properties?: Record<string, Shape>
}
type Reading = Column & { read: (item: Json) => Cell }
type Items = Iterable<Json> | AsyncIterable<Json>
/** The first columns of every row of an inner table, which name its row of the outer table. */
type Origin = { columns: Column[]; of: (item: Json) => Row }

const components = new Map(reportComponents.map((schema) => [(schema as { $id?: string }).$id, schema as Shape]))

/** Returns the block as a table, followed by the lists within its rows as separate tables. */
export function toTables(
  name: string,
  shape: Shape,
  value: unknown,
  layout: BlockLayout & { columns: readonly ExtraColumn[] },
): Table[] {
  const isList = shape.type === 'array'
  const properties = (isList ? resolveShape(shape.items!) : shape).properties ?? {}
  const items = (isList ? value : [value]) as Items
  const title = layout.title ?? toLabel(name)
  const readings = [...putFirst(layout.firstColumn, readingsOf(properties, layout)), ...layout.columns]
  const table: Table = {
    name: toFileName(name),
    title,
    columns: readings,
    rows: toRows(items, readings),
    ...printedOf(readings, layout),
    ...headingOf(properties),
    ...(layout.printedAt === undefined ? {} : { printedAt: layout.printedAt }),
    ...(layout.isPrinted === undefined ? {} : { isPrinted: layout.isPrinted }),
  }
  const isFilled = readings.length > 0
  if (!Array.isArray(items)) return isFilled ? [table] : []
  return [...(isFilled ? [table] : []), ...innerTables({ name, title, properties, items, isList, readings })]
}

type Outer = {
  name: string
  title: string
  properties: Record<string, Shape>
  items: Json[]
  isList: boolean
  readings: Reading[]
  origin?: Origin
}

/** Returns the amounts of assets within the rows, one row per asset, and the lists within the rows. */
function innerTables({ name, title, properties, items, isList, readings, origin = noOrigin }: Outer): Table[] {
  const tables: Table[] = []
  const listOrigin = isList ? originOf(properties, readings) : noOrigin
  const outer: Origin = {
    columns: [...origin.columns, ...listOrigin.columns],
    of: (item) => ({ ...origin.of(item), ...listOrigin.of(item) }),
  }
  const lists = Object.entries(properties).filter(([, shape]) => isAssetList(resolveShape(shape)))
  if (lists.length > 0) tables.push(byAsset({ name, title, items, origin: outer, lists: lists.map(([key]) => key) }))
  for (const [key, property] of Object.entries(properties)) {
    const shape = resolveShape(property)
    if (!isTable(shape)) continue
    const inner = resolveShape(shape.items!).properties!
    const nested = readingsOf(inner, {})
    const [first] = Object.keys(properties)
    const of: Column = { key: `${first}.of`, label: toLabel(title.replace(/s$/, '')), kind: 'text' }
    const parents = new Map<Json, Json>()
    for (const item of items) for (const row of (item[key] ?? []) as Json[]) parents.set(row, item)
    const originOfRow = (row: Json): Row => ({ [of.key]: toText(parents.get(row)![first!]) })
    const rows = [...parents.keys()]
    const part = { name: `${name} ${key}`, title: `${title}, ${toLabel(key).toLowerCase()}` }
    tables.push({
      name: toFileName(part.name),
      title: part.title,
      columns: [of, ...nested],
      rows: rows.map((row) => ({ ...originOfRow(row), ...toRow(row, nested) })),
    })
    const within = { columns: [of], of: originOfRow }
    tables.push(
      ...innerTables({ ...part, properties: inner, items: rows, isList: true, readings: nested, origin: within }),
    )
  }
  return tables
}

const noOrigin: Origin = { columns: [], of: () => ({}) }
const originColumnsMax = 3

/** Returns the columns that identify the row: those of text and time before the first amounts. */
function originOf(properties: Record<string, Shape>, readings: Reading[]): Origin {
  const names = Object.keys(properties)
  const end = names.findIndex((name) => isAssetList(resolveShape(properties[name]!)))
  const columns = readings
    .filter(({ key, kind }) => !isNumeric(kind) && names.indexOf(key.split('.')[0]!) < end)
    .slice(0, originColumnsMax)
  return {
    columns: columns.map(({ key, label, kind, wording }) => ({
      key,
      label,
      kind,
      ...(wording === undefined ? {} : { wording }),
    })),
    of: (item) => toRow(item, columns),
  }
}

const assetKeys = ['tokenId', 'assetCode', 'assetSymbol', 'network', 'contractAddress']

/** Returns the lists of amounts by asset of all rows as one table, sorted by asset, with one row per asset and outer row. */
function byAsset(outer: { name: string; title: string; items: Json[]; origin: Origin; lists: string[] }): Table {
  const { name, title, items, origin, lists } = outer
  const figures = lists.map((list): Column => {
    const key = list.replace(/ByAsset$/, '')
    return { key, label: toLabel(key), kind: 'amount' }
  })
  const assets = assetKeys.map((key): Column => ({ key, label: toLabel(key), kind: 'text' }))
  const rows = items.flatMap((item) => rowsByAsset(item, lists).map((row) => ({ ...origin.of(item), ...row })))
  // Sorting is stable: the rows of an asset stay in the order of the outer rows.
  rows.sort((a, b) => compareText(assetOf(a), assetOf(b)))
  const shown = origin.columns.filter(({ key }) => !/Id$/.test(key) || origin.columns.length === 1)
  return {
    name: toFileName(`${name} by asset`),
    title: `${title} by asset`,
    columns: [...origin.columns, ...assets, ...figures],
    rows,
    printed: [...shown, ...figures].map(({ key, label, kind }) => ({ label, kind, keys: [key] })),
    headingOf: toAssetName,
    isGrouped: true,
  }
}

function rowsByAsset(item: Json, lists: string[]): Row[] {
  const rows = new Map<string, Row>()
  for (const list of lists) {
    for (const { amount, ...asset } of (item[list] ?? []) as (Row & { tokenId: string; amount: string })[]) {
      const row = rows.get(asset.tokenId) ?? asset
      row[list.replace(/ByAsset$/, '')] = amount
      rows.set(asset.tokenId, row)
    }
  }
  return [...rows.values()]
}

const assetOf = ({ assetCode, network, tokenId }: Row) => `${assetCode}\n${network}\n${tokenId}`

function toAssetName({ assetCode, network, contractAddress }: Row): string {
  const contract = contractAddress === null || contractAddress === undefined ? '' : ` · ${contractAddress}`
  return `${assetCode} · ${network}${contract}`
}

const isAssetRow = (keys: string[]) =>
  keys.includes('tokenId') && keys.includes('assetCode') && keys.includes('network')

/** Returns the heading of each row in a block of one row per asset: the name of the asset. */
function headingOf(properties: Record<string, Shape>): Pick<Table, 'headingOf'> {
  return isAssetRow(Object.keys(properties)) ? { headingOf: toAssetName } : {}
}

/** Returns the columns of a page: those of the layout, otherwise all that are not omitted, with one for the name of an asset. */
function printedOf(
  readings: Reading[],
  { printed, columns: extras }: BlockLayout & { columns: readonly ExtraColumn[] },
): Pick<Table, 'printed'> {
  if (printed !== undefined) {
    const extra = extras.map(({ key }) => key)
    return {
      printed: printed.map((column) => (column.hasExtra ? { ...column, keys: [...column.keys, ...extra] } : column)),
    }
  }
  if (!isAssetRow(readings.map(({ key }) => key))) return {}
  const asset: PrintedColumn = {
    label: 'Asset',
    kind: 'text',
    keys: ['assetCode', 'network'],
    separator: ' · ',
    isInHeading: true,
  }
  const shown = readings
    .filter(
      ({ key, isOmittedInPrint }) => isOmittedInPrint !== true && (key === 'assetCode' || !assetKeys.includes(key)),
    )
    .map(({ key, label, kind }): PrintedColumn => (key === 'assetCode' ? asset : { label, kind, keys: [key] }))
  return { printed: shown }
}

function putFirst(key: string | undefined, readings: Reading[]): Reading[] {
  return [...readings.filter((reading) => reading.key === key), ...readings.filter((reading) => reading.key !== key)]
}

async function* toRows(items: Items, readings: readonly Pick<Reading, 'key' | 'read'>[]): AsyncGenerator<Row> {
  for await (const item of items) yield toRow(item, readings)
}

function toRow(item: Json, readings: readonly Pick<Reading, 'key' | 'read'>[]): Row {
  const row: Row = {}
  for (const { key, read } of readings) row[key] = read(item)
  return row
}

function readingsOf(
  properties: Record<string, Shape>,
  layout: Pick<BlockLayout, 'omittedInPrint' | 'omitted'>,
  path: string[] = [],
): Reading[] {
  const isNamed = Object.keys(properties).some((name) => naming.test(name))
  return Object.entries(properties).flatMap(([name, property]) => {
    const shape = resolveShape(property)
    const at = [...path, name]
    const key = at.join('.')
    if (layout.omitted?.includes(key)) return []
    if (shape.properties !== undefined) return readingsOf(shape.properties, layout, at)
    if (isTable(shape) || isAssetList(shape)) return []
    const isNested = path.length > 0 && name !== 'name'
    const isOmittedInPrint = layout.omittedInPrint?.includes(key) || isNested || (isId.test(name) && isNamed)
    const wording = markedWordingOf(property) ?? markedWordingOf(shape) ?? (isCode(shape) ? 'code' : undefined)
    const reading: Reading = {
      key,
      label: toLabel(at.filter((part) => path.length === 0 || part !== 'name').join(' ')),
      kind: kindOf(shape),
      read: (item) => toCell(at.reduce<unknown>((value, part) => (value as Json | null)?.[part], item)),
      ...(isOmittedInPrint ? { isOmittedInPrint } : {}),
      ...(wording === undefined ? {} : { wording }),
    }
    return [reading]
  })
}

/** Ids are for programs: a page has the name that stands beside them. */
const isId = /^id$|Id$/
const naming = /^(name|label|address|user|owner|counterparty|assetCode|title)$|Name$/

/** Returns true for the values of an enumeration, and for yes and no. */
function isCode(shape: Shape): boolean {
  const items = shape.items === undefined ? shape : resolveShape(shape.items)
  return items.enum !== undefined || items.type === 'boolean'
}

/** Resolves a reference to its component, and a nullable type to the type without null. */
export function resolveShape(shape: Shape): Shape {
  const other = shape.anyOf?.find(({ type }) => type !== 'null')
  if (other !== undefined) return resolveShape(other)
  if (shape.$ref === undefined) return shape
  const component = components.get(shape.$ref)
  if (component === undefined) throw new Error(`Reports have no component ${shape.$ref}`)
  return component
}

/** Returns true for a list whose items have more than a name or an amount. */
function isTable(shape: Shape): boolean {
  if (shape.type !== 'array') return false
  const names = Object.keys(resolveShape(shape.items!).properties ?? {})
  return names.length > 0 && !isAssetAmount(names) && !isNameWithId(names)
}

const isAssetList = (shape: Shape) =>
  shape.type === 'array' && isAssetAmount(Object.keys(resolveShape(shape.items!).properties ?? {}))
const isAssetAmount = (names: string[]) => names.includes('assetCode') && names.includes('amount')
const isNameWithId = (names: string[]) => names.length === 2 && names.includes('id') && names.includes('name')

/** Returns the kind that the schema is marked with, or that follows from its type. */
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
  if (Array.isArray(value)) return value.map(itemToText).join('; ')
  if (value !== null && typeof value === 'object') {
    return Object.entries(value)
      .map(([key, value]) => `${key}=${toText(value)}`)
      .join('; ')
  }
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value ?? '')
}

function itemToText(value: unknown): string {
  if (value === null || typeof value !== 'object') return toText(value)
  const { name, id } = value as Json
  return name === undefined ? toText(value) : `${name} (${id})`
}

/** Returns `Gross turnover USD` for `grossTurnoverUsd`. */
export function toLabel(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(' ')
  const text = words.map((word) => (/^usd$/i.test(word) ? 'USD' : /^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()))
  const joined = text.join(' ')
  return joined.charAt(0).toUpperCase() + joined.slice(1)
}

/** Returns `by-own-address` for `byOwnAddress`. */
export const toFileName = (name: string) => toLabel(name).toLowerCase().replaceAll(' ', '-')
