import { type RawBuilder, sql } from 'kysely'
import { parseTimestamp } from '../../../lib/period.ts'
import { withoutUrn } from './attributes.ts'
import type { Comparison, Filter, Value } from './filter.ts'
import { scimFault } from './scim-fault.ts'

type Condition = RawBuilder<boolean>

type TextColumn = { type: 'text'; sql: RawBuilder<unknown>; caseExact?: true }

/** The SQL of an attribute: a text, a boolean, a time, or a list whose elements have attributes of their own. */
export type Column =
  | TextColumn
  | { type: 'boolean'; sql: RawBuilder<unknown> }
  | { type: 'time'; sql: RawBuilder<unknown> }
  | { type: 'list'; some: (condition: Condition) => Condition; columns: Columns }
export type Columns = Readonly<Record<string, Column>>

/** Returns the SQL condition of a filter. Values become parameters; names must be keys of `columns`. @throws 400 invalidFilter */
export function toCondition(filter: Filter, columns: Columns): Condition {
  switch (filter.op) {
    case 'and':
    case 'or': {
      const parts = filter.filters.map((part) => toCondition(part, columns))
      return sql<boolean>`(${sql.join(parts, filter.op === 'and' ? sql` and ` : sql` or `)})`
    }
    case 'not':
      return sql<boolean>`(not ${toCondition(filter.filter, columns)})`
    case 'of': {
      const list = columnOf(filter.name, columns)
      if (list.type !== 'list') throw fault(`${filter.name} is not a list`)
      return list.some(toCondition(filter.filter, list.columns))
    }
    default:
      return ofName(filter, columns)
  }
}

type Leaf = Extract<Filter, { name: string }> & { op: Comparison | 'pr' }

function ofName(leaf: Leaf, columns: Columns): Condition {
  const name = withoutUrn(leaf.name)
  const dot = name.indexOf('.')
  const list = dot < 0 ? undefined : columns[name.slice(0, dot)]
  if (list?.type === 'list') return list.some(ofColumn(leaf, columnOf(name.slice(dot + 1), list.columns)))
  const column = columnOf(name, columns)
  if (column.type !== 'list') return ofColumn(leaf, column)
  // `emails eq "…"` compares the attribute `value` of each element.
  if (leaf.op === 'pr') return column.some(sql<boolean>`true`)
  return column.some(ofColumn(leaf, columnOf('value', column.columns)))
}

function columnOf(name: string, columns: Columns): Column {
  const key = withoutUrn(name)
  if (!Object.hasOwn(columns, key)) throw fault(`cannot be by ${JSON.stringify(name)}`)
  return columns[key]!
}

function ofColumn(leaf: Leaf, column: Column): Condition {
  if (column.type === 'list') throw fault('names a list within a list')
  if (leaf.op === 'pr') return sql<boolean>`(${column.sql} is not null)`
  const { op, value } = leaf
  if (value === null) {
    if (op !== 'eq' && op !== 'ne') throw fault('compares null')
    return op === 'eq' ? sql<boolean>`(${column.sql} is null)` : sql<boolean>`(${column.sql} is not null)`
  }
  if (column.type === 'boolean') return ofBoolean(op, column.sql, value)
  if (typeof value !== 'string') throw fault('compares a text with another type')
  return column.type === 'time' ? ofTime(op, column.sql, value) : ofText(op, column, value)
}

function ofBoolean(op: Comparison, column: RawBuilder<unknown>, value: Value): Condition {
  if (typeof value !== 'boolean' || (op !== 'eq' && op !== 'ne')) throw fault('compares a boolean')
  return op === 'eq'
    ? sql<boolean>`(${column} is not distinct from ${value})`
    : sql<boolean>`(${column} is distinct from ${value})`
}

const signs = { eq: sql`=`, gt: sql`>`, ge: sql`>=`, lt: sql`<`, le: sql`<=` } as const

function ofTime(op: Comparison, column: RawBuilder<unknown>, value: string): Condition {
  const time = parseTimestamp(value)
  if (time === null) throw fault('compares a time with another text')
  if (op === 'ne') return sql<boolean>`(${column} is distinct from ${time})`
  if (!(op in signs)) throw fault(`cannot compare times by ${op}`)
  return sql<boolean>`(${column} ${signs[op as keyof typeof signs]} ${time})`
}

function ofText(op: Comparison, column: TextColumn, value: string): Condition {
  const cased = (text: RawBuilder<unknown>) => (column.caseExact ? text : sql`lower(${text})`)
  const [text, wanted] = [cased(column.sql), cased(sql`${value}::text`)]
  switch (op) {
    case 'ne':
      return sql<boolean>`(${text} is distinct from ${wanted})`
    case 'co':
      return sql<boolean>`(position(${wanted} in ${text}) > 0)`
    case 'sw':
      return sql<boolean>`starts_with(${text}, ${wanted})`
    case 'ew':
      return sql<boolean>`(right(${text}, length(${wanted})) = ${wanted})`
    case 'eq':
      return sql<boolean>`(${text} = ${wanted})`
    default:
      return sql<boolean>`(${text} collate "C" ${signs[op]} ${wanted} collate "C")`
  }
}

const fault = (message: string) => scimFault('invalidFilter', `filter: ${message}`)
