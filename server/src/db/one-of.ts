import { type RawBuilder, sql } from 'kysely'

/**
 * SQL: whether a column has one of these values. They are literals, because the planner uses a partial index only where it
 * can prove from the text of a statement that its rows are in the index; of a parameter it knows nothing.
 */
export const isOneOf = (column: string, values: readonly string[]): RawBuilder<boolean> =>
  sql`${sql.ref(column)} in (${sql.join(values.map((value) => sql.lit(value)))})`
