import { type Insertable, type RawBuilder, sql } from 'kysely'
import { prepared, type Trx } from './client.ts'
import type { DB, Json } from './types.ts'

/** Rows by table. All rows of one table have the same columns. JSON values are passed as values, not as text. */
type Rows = { [Table in keyof DB]?: Row<Insertable<DB[Table]>>[] }
type Row<Columns> = { [Name in keyof Columns]: Json extends Columns[Name] ? unknown : Columns[Name] }

/**
 * Inserts rows of several tables in one statement, which is one round trip. References among them are checked after all rows
 * are inserted.
 *
 * @param parts further parts of the same statement
 */
export async function insertRows(trx: Trx, tables: Rows, parts: Part[] = []): Promise<void> {
  await runParts(trx, [...parts, ...insertsOf(tables)])
}

/** A statement that is a part of another one. It sees the database as it was before that statement. */
export type Part = RawBuilder<unknown> | CompareAndSet

/**
 * An update that states the expected old values, and returns a row for each changed row. If it does not change exactly `rows`
 * rows, the error of `otherwise` is thrown.
 */
export type CompareAndSet = { update: RawBuilder<unknown>; rows: number; otherwise: () => Error }

/** Runs these statements as one. @throws the error of a compare-and-set that did not change its rows */
export async function runParts(trx: Trx, parts: Part[]): Promise<void> {
  if (parts.length === 0) return
  const { rows } = await sql<Changed>`${prepared} ${withParts(parts)} select ${changedBy(parts)} as changed`.execute(
    trx,
  )
  assertChanged(parts, rows[0]!)
}

/** The number of rows that each part changed; 0 for a part that is not a compare-and-set. */
export type Changed = { changed: number[] }

/** SQL: returns the value of `changed`. */
export function changedBy(parts: Part[]): RawBuilder<unknown> {
  const counts = parts.map((part, i) =>
    'update' in part ? sql`(select count(*) from ${sql.id(`part_${i}`)})` : sql`0`,
  )
  return sql`json_build_array(${sql.join(counts)})`
}

/** Returns the row of a statement if each of its parts changed the expected rows. @throws as `runParts` */
export function assertChanged<Row extends Changed>(parts: Part[], row: Row): Row {
  for (const [i, part] of parts.entries()) if ('update' in part && row.changed[i] !== part.rows) throw part.otherwise()
  return row
}

/** SQL: returns the statements of `insertRows`, one per table that has rows, as parts of another statement. */
export function insertsOf(tables: Rows): RawBuilder<unknown>[] {
  return Object.entries(tables).flatMap(([table, rows]) => {
    const [first] = rows
    if (first === undefined) return []
    const columns = sql.join(Object.keys(first).map((column) => sql.ref(column)))
    return sql`insert into ${sql.table(table)} (${columns}) select ${columns} from ${recordsetOf(table, rows)}`
  })
}

/** SQL: returns these rows with the columns of a table. JSON values are passed as values. */
export const recordsetOf = (table: string, rows: object[]): RawBuilder<unknown> =>
  sql`json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows.map(toJson))}::json)`

/** SQL: returns the WITH clause that runs these statements as parts of the following statement; empty without parts. */
export function withParts(parts: Part[]): RawBuilder<unknown> {
  return parts.length === 0 ? sql`` : sql`with ${namedParts(parts)}`
}

/** SQL: returns these statements as entries of a WITH clause. */
export function namedParts(parts: Part[]): RawBuilder<unknown> {
  const statements = parts.map((part) => ('update' in part ? part.update : part))
  return sql.join(statements.map((statement, i) => sql`${sql.id(`part_${i}`)} as (${statement})`))
}

/** SQL: returns these columns with their values, for `set`. A column without a value stays as it is. */
export function assignments(columns: Record<string, unknown>): RawBuilder<unknown> {
  const named = Object.entries(columns).filter(([, value]) => value !== undefined)
  return sql.join(named.map(([name, value]) => sql`${sql.ref(name)} = ${value}`))
}

/** Returns a row as JSON, with bytes in the form that PostgreSQL reads. */
function toJson(row: object): object {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
    ]),
  )
}
