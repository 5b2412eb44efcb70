import { type RawBuilder, sql } from 'kysely'

/**
 * SQL condition: a column has one of these values. They are literals: the planner uses a partial index only if the text of a
 * statement proves that its rows are in the index, and a parameter proves nothing.
 */
export const isOneOf = (column: string, values: readonly string[]): RawBuilder<boolean> =>
  sql`${sql.ref(column)} in (${sql.join(values.map((value) => sql.lit(value)))})`
