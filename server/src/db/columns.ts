import { type RawBuilder, sql } from 'kysely'

/**
 * The SQL of each field of a row. Each room gives the SQL of the fields that it knows. A field without SQL does not compile.
 * `Input` is the value on which the SQL depends.
 */
export type Columns<Row, Input = void> = { [Name in keyof Row]-?: (input: Input) => RawBuilder<unknown> }

/** SQL: the columns of a row, for `select`. */
export function select<Row, Input>(columns: Columns<Row, Input>, input: Input): RawBuilder<unknown> {
  const named = Object.entries<(input: Input) => RawBuilder<unknown>>(columns)
  return sql.join(named.map(([name, column]) => sql`${column(input)} as ${sql.ref(name)}`))
}
