import { type Insertable, sql } from 'kysely'
import { prepared, type Trx } from './client.ts'
import type { DB, Json } from './types.ts'

/** Rows by table; all rows of one table have the same columns. JSON values are given as values, not as text. */
type Rows = { [Table in keyof DB]?: Row<Insertable<DB[Table]>>[] }
type Row<Columns> = { [Name in keyof Columns]: Json extends Columns[Name] ? unknown : Columns[Name] }

/**
 * Inserts rows of several tables in one statement, which is one round trip. References among them are checked after all
 * of them are inserted.
 */
export async function insertRows(trx: Trx, tables: Rows): Promise<void> {
  const inserts = Object.entries(tables).flatMap(([table, rows]) => {
    const [first] = rows
    if (first === undefined) return []
    const columns = sql.join(Object.keys(first).map((column) => sql.ref(column)))
    const all = JSON.stringify(rows.map(toJson))
    return sql`insert into ${sql.table(table)} (${columns})
      select ${columns} from json_populate_recordset(null::${sql.table(table)}, ${all}::json)`
  })
  const last = inserts.pop()
  if (last === undefined) return
  const others = inserts.map((insert, i) => sql`${sql.id(`insert_${i}`)} as (${insert})`)
  await sql`${prepared} ${others.length === 0 ? sql`` : sql`with ${sql.join(others)}`} ${last}`.execute(trx)
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
