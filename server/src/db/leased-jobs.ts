import { type RawBuilder, sql } from 'kysely'
import { claimRows } from './claim.ts'
import type { Db } from './client.ts'

/** One attempt at a job: every write for it carries its number, so that those of an earlier attempt no longer count. */
export type Taken = { vault_id: string; id: string; attempt: number }

type Options = {
  table: 'ledger_verifications' | 'backtests' | 'report_exports'
  /** What it is called in the reason of a job that was begun again and again. */
  noun: string
  attemptsMax: number
  leaseSeconds: number
  /** Further assignments when a job is begun, such as that of its progress. */
  begin?: RawBuilder<unknown>
}

/**
 * Jobs that wait in a table with the columns `state` (queued, running, done, failed), `attempt`, `leased_until`, `failure`,
 * `started_at` and `finished_at`. A node claims one for the time of a lease, which it renews; if the node dies, another one
 * makes the job from the beginning.
 */
export function leasedJobs<Row extends Taken>({ table, noun, attemptsMax, leaseSeconds, begin = sql`` }: Options) {
  const rows = sql.table(table)
  const leaseFrom = (now: Date) => new Date(now.getTime() + leaseSeconds * 1_000)
  const isOf = ({ vault_id, id, attempt }: Taken) =>
    sql`vault_id = ${vault_id} and id = ${id} and attempt = ${attempt} and state = 'running'`
  return {
    /** SQL condition: the row is this attempt, and no other node has taken it over. */
    isOf,

    /** Claims the job that has waited longest: one that no node has, or whose node has not renewed its lease. */
    async take(db: Db, now: Date): Promise<Row | null> {
      await sql`
        update ${rows} set state = 'failed', leased_until = null, finished_at = ${now},
          failure = ${`The ${noun} was begun several times and never completed`}
        where state = 'running' and leased_until < ${now} and attempt >= ${attemptsMax}`.execute(db)
      const { rows: taken } = await sql<Row>`
        with ${claimRows({
          table,
          key: ['vault_id', 'id'],
          where: sql`n.state = 'queued' or (n.state = 'running' and n.leased_until < ${now})`,
          orderBy: sql`n.created_at, n.id`,
          limit: 1,
          set: sql`state = 'running', attempt = n.attempt + 1, started_at = ${now}, leased_until = ${leaseFrom(now)}${begin}`,
        })}
        select * from claimed`.execute(db)
      return taken[0] ?? null
    },

    /** false: another node has the job by now. `set` are further assignments, such as of its progress. */
    async renew(db: Db, taken: Taken, now: Date, set: RawBuilder<unknown> = sql``): Promise<boolean> {
      const { numAffectedRows } = await sql`
        update ${rows} set leased_until = ${leaseFrom(now)}${set} where ${isOf(taken)}`.execute(db)
      return numAffectedRows === 1n
    },

    /** @param set the assignments of what was found */
    async finish(db: Db, taken: Taken, set: RawBuilder<unknown>, now: Date): Promise<void> {
      await sql`
        update ${rows} set state = 'done', leased_until = null, finished_at = ${now}, ${set} where ${isOf(taken)}`.execute(
        db,
      )
    },

    async fail(db: Db, taken: Taken, failure: string, now: Date): Promise<void> {
      await sql`
        update ${rows} set state = 'failed', leased_until = null, finished_at = ${now}, failure = ${failure}
        where ${isOf(taken)}`.execute(db)
    },

    /** Puts it back into the queue, to be made from the beginning. */
    async release(db: Db, taken: Taken): Promise<void> {
      await sql`update ${rows} set state = 'queued', leased_until = null, started_at = null where ${isOf(taken)}`.execute(
        db,
      )
    },
  }
}
