import { type RawBuilder, sql } from 'kysely'

/**
 * A row by its columns: each field by the SQL that gives it, which the room that knows the field contributes. A field without its SQL
 * does not compile. `Asked` is what the SQL depends on.
 */
export type Columns<Row, Asked = void> = { [Name in keyof Row]-?: (asked: Asked) => RawBuilder<unknown> }

/** SQL: the columns of a row, for `select`. */
export function select<Row, Asked>(columns: Columns<Row, Asked>, asked: Asked): RawBuilder<unknown> {
  const named = Object.entries<(asked: Asked) => RawBuilder<unknown>>(columns)
  return sql.join(named.map(([name, column]) => sql`${column(asked)} as ${sql.ref(name)}`))
}
