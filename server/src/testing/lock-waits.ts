import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Db } from '../db/client.ts'

/** Waits until exactly `count` sessions of the database of `db` wait for a lock that another session holds. */
export async function untilSessionsWait(db: Db, count = 1): Promise<void> {
  await expect.poll(() => countSessionsWaiting(db)).toBe(count)
}

/** Counts the sessions of the database of `db` that wait for a lock now. */
export async function countSessionsWaiting(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct l.pid)::int as count from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and a.datname = current_database()`.execute(db)
  return rows[0]!.count
}
