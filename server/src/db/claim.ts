import { type RawBuilder, sql } from 'kysely'

type Claim = {
  table: string
  /** The columns of its primary key. */
  key: string[]
  /** Which rows are due; the table is `n`. */
  where: RawBuilder<unknown>
  orderBy: RawBuilder<unknown>
  limit: number
  /** What marks a row as taken, so that it is not due until the lease of its taker ends. */
  set: RawBuilder<unknown>
}

/**
 * SQL that takes rows that are due, to stand after `with`: `claimed` holds them as they are now. Nodes never wait for each
 * other and never take the same row, and a row whose taker died is due again when its lease ends.
 */
export function claimRows({ table, key, where, orderBy, limit, set }: Claim): RawBuilder<unknown> {
  const columnsOf = (alias: string) => sql.join(key.map((column) => sql.ref(`${alias}.${column}`)))
  return sql`
    due as (
      select ${columnsOf('n')} from ${sql.table(table)} n where ${where}
      order by ${orderBy} limit ${limit} for update of n skip locked
    ), claimed as (
      update ${sql.table(table)} n set ${set} from due where (${columnsOf('n')}) = (${columnsOf('due')}) returning n.*
    )`
}

export type Backoff = { firstMilliseconds: number; longestMilliseconds: number }

/** When work is to be tried again that failed `attempts` times: each pause is twice as long as the one before. */
export function retryAt(now: Date, attempts: number, { firstMilliseconds, longestMilliseconds }: Backoff): Date {
  const pause = Math.min(firstMilliseconds * 2 ** Math.max(0, attempts - 1), longestMilliseconds)
  return new Date(now.getTime() + pause)
}
