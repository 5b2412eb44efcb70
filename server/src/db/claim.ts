import { type RawBuilder, sql } from 'kysely'

type Claim = {
  table: string
  /** The columns of its primary key. */
  key: string[]
  /** The condition of due rows; the table is `n`. */
  where: RawBuilder<unknown>
  orderBy: RawBuilder<unknown>
  limit: number
  /** The assignment that marks a row as claimed, so that it is not due until the lease ends. */
  set: RawBuilder<unknown>
}

/**
 * SQL: claims due rows, for use after `with`. `claimed` contains them after the update. Nodes never wait for each other and
 * never claim the same row. If the claiming node dies, the row is due again when the lease ends.
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

/** Returns the time of the next attempt after `attempts` failures. Each pause is twice as long as the previous one. */
export function retryAt(now: Date, attempts: number, { firstMilliseconds, longestMilliseconds }: Backoff): Date {
  const pause = Math.min(firstMilliseconds * 2 ** Math.max(0, attempts - 1), longestMilliseconds)
  return new Date(now.getTime() + pause)
}
