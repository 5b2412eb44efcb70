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
export async function insertRows(trx: Trx, tables: Rows, parts: RawBuilder<unknown>[] = []): Promise<void> {
  await runParts(trx, [...parts, ...insertsOf(tables)])
}

/** Runs these statements as one. */
export async function runParts(trx: Trx, parts: RawBuilder<unknown>[]): Promise<void> {
  const last = parts.at(-1)
  if (last !== undefined) await sql`${prepared} ${withParts(parts.slice(0, -1))} ${last}`.execute(trx)
}

/** SQL: the statements of `insertRows`, one per table that has rows, to be parts of another statement. */
export function insertsOf(tables: Rows): RawBuilder<unknown>[] {
  return Object.entries(tables).flatMap(([table, rows]) => {
    const [first] = rows
    if (first === undefined) return []
    const columns = sql.join(Object.keys(first).map((column) => sql.ref(column)))
    const all = JSON.stringify(rows.map(toJson))
    return sql`insert into ${sql.table(table)} (${columns})
      select ${columns} from json_populate_recordset(null::${sql.table(table)}, ${all}::json)`
  })
}

/** SQL: the WITH clause that runs these statements as parts of the one that follows; nothing when there are none. */
export function withParts(parts: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return parts.length === 0 ? sql`` : sql`with ${namedParts(parts)}`
}

/** SQL: these statements as entries of a WITH clause. */
export function namedParts(parts: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join(parts.map((part, i) => sql`${sql.id(`part_${i}`)} as (${part})`))
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
