import { sql } from 'kysely'

/** SQL: returns an instant for JSON, with milliseconds like every timestamp of the API. PostgreSQL uses another format in JSON. */
export const wireTime = (column: string) =>
  sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
