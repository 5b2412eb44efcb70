import { type RawBuilder, sql } from 'kysely'
import { claimRows } from './claim.ts'
import type { Db } from './client.ts'

/** One attempt at a job. Every write of the attempt carries its number, so that writes of an earlier attempt no longer count. */
export type Taken = { vault_id: string; id: string; attempt: number }

type Options = {
  table: 'ledger_verifications' | 'backtests' | 'report_exports'
  /** The noun for a job in the failure of a job that was started too often. */
  noun: string
  attemptsMax: number
  leaseSeconds: number
  /** Further assignments at the start of a job, such as a reset of its progress. The text begins with a comma. */
  begin?: RawBuilder<unknown>
}

/**
 * Returns the queue of jobs in a table with the columns `state` (queued, running, done, failed), `attempt`, `leased_until`,
 * `failure`, `started_at` and `finished_at`. A node claims a job for the time of a lease, which it renews. If the node dies,
 * another node does the job from the beginning.
 */
export function leasedJobs<Row extends Taken>({ table, noun, attemptsMax, leaseSeconds, begin = sql`` }: Options) {
  const rows = sql.table(table)
  const leaseFrom = (now: Date) => new Date(now.getTime() + leaseSeconds * 1_000)
  const isOf = ({ vault_id, id, attempt }: Taken) =>
    sql`vault_id = ${vault_id} and id = ${id} and attempt = ${attempt} and state = 'running'`
  return {
    /** SQL condition: the row is this attempt, and no other node has taken it over. */
    isOf,

    /** Claims the job that has waited longest: a queued job, or a running job whose node has not renewed its lease. */
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

    /**
     * Renews the lease. Returns false when another node has the job by now.
     * @param set further assignments, such as progress; the text begins with a comma
     */
    async renew(db: Db, taken: Taken, now: Date, set: RawBuilder<unknown> = sql``): Promise<boolean> {
      const { numAffectedRows } = await sql`
        update ${rows} set leased_until = ${leaseFrom(now)}${set} where ${isOf(taken)}`.execute(db)
      return numAffectedRows === 1n
    },

    /** @param set the assignments of the result */
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

    /** Puts the job back into the queue. It starts again from the beginning. */
    async release(db: Db, taken: Taken): Promise<void> {
      await sql`update ${rows} set state = 'queued', leased_until = null, started_at = null where ${isOf(taken)}`.execute(
        db,
      )
    },
  }
}
