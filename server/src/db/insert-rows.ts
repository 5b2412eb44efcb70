import { type Insertable, type RawBuilder, sql } from 'kysely'
import { prepared, type Trx } from './client.ts'
import type { DB, Json } from './types.ts'

/** Rows by table; all rows of one table have the same columns. JSON values are given as values, not as text. */
type Rows = { [Table in keyof DB]?: Row<Insertable<DB[Table]>>[] }
type Row<Columns> = { [Name in keyof Columns]: Json extends Columns[Name] ? unknown : Columns[Name] }

/**
 * Inserts rows of several tables in one statement, which is one round trip. References among them are checked after all
 * of them are inserted.
 *
 * @param parts further statements that run as parts of the same one
 */
export async function insertRows(trx: Trx, tables: Rows, parts: Part[] = []): Promise<void> {
  await runParts(trx, [...parts, ...insertsOf(tables)])
}

/** A statement that is a part of another one. It sees the database as it was before that. */
export type Part = RawBuilder<unknown> | CompareAndSet

/** An update that names what it expects, and returns a row for each that it changed. */
export type CompareAndSet = { update: RawBuilder<unknown>; rows: number; otherwise: () => Error }

/** Runs these statements as one. @throws what a compare-and-set among them names, when it changed fewer rows than it says */
export async function runParts(trx: Trx, parts: Part[]): Promise<void> {
  if (parts.length === 0) return
  const { rows } = await sql<Changed>`${prepared} ${withParts(parts)} select ${changedBy(parts)} as changed`.execute(
    trx,
  )
  assertChanged(parts, rows[0]!)
}

/** The number of rows that each part changed; 0 for a part that is no compare-and-set. */
export type Changed = { changed: number[] }

/** SQL: the column of Changed. */
export function changedBy(parts: Part[]): RawBuilder<unknown> {
  const counts = parts.map((part, i) =>
    'update' in part ? sql`(select count(*) from ${sql.id(`part_${i}`)})` : sql`0`,
  )
  return sql`json_build_array(${sql.join(counts)})`
}

/** The row of the statement, of whose parts each changed what it must. @throws as `runParts` */
export function assertChanged<Row extends Changed>(parts: Part[], row: Row): Row {
  for (const [i, part] of parts.entries()) if ('update' in part && row.changed[i] !== part.rows) throw part.otherwise()
  return row
}

/** SQL: the statements of `insertRows`, one per table that has rows, to be parts of another statement. */
export function insertsOf(tables: Rows): RawBuilder<unknown>[] {
  return Object.entries(tables).flatMap(([table, rows]) => {
    const [first] = rows
    if (first === undefined) return []
    const columns = sql.join(Object.keys(first).map((column) => sql.ref(column)))
    return sql`insert into ${sql.table(table)} (${columns}) select ${columns} from ${recordsetOf(table, rows)}`
  })
}

/** SQL: these rows with the columns of a table. JSON values are given as values. */
export const recordsetOf = (table: string, rows: object[]): RawBuilder<unknown> =>
  sql`json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows.map(toJson))}::json)`

/** SQL: the WITH clause that runs these statements as parts of the one that follows; nothing when there are none. */
export function withParts(parts: Part[]): RawBuilder<unknown> {
  return parts.length === 0 ? sql`` : sql`with ${namedParts(parts)}`
}

/** SQL: these statements as entries of a WITH clause. */
export function namedParts(parts: Part[]): RawBuilder<unknown> {
  const statements = parts.map((part) => ('update' in part ? part.update : part))
  return sql.join(statements.map((statement, i) => sql`${sql.id(`part_${i}`)} as (${statement})`))
}

/** SQL: these columns with their values, for `set`; one without a value stays as it is. */
export function assignments(columns: Record<string, unknown>): RawBuilder<unknown> {
  const named = Object.entries(columns).filter(([, value]) => value !== undefined)
  return sql.join(named.map(([name, value]) => sql`${sql.ref(name)} = ${value}`))
}

/** Bytes in the form that PostgreSQL reads. */
function toJson(row: object): object {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
    ]),
  )
}
