import { sql } from 'kysely'
import type { Db } from './client.ts'

/**
 * Reads in one snapshot, with plans that scan indexes in order and stop after enough rows. By default, the planner reads and
 * sorts all rows for some filters and table sizes. That is cheaper on average, but far too slow for some requests. JIT
 * compilation is off because it costs more than such a read.
 *
 * `plansOnce` is for reads with few different statements: a `prepared` statement is planned at its first use, for any
 * parameters. Otherwise PostgreSQL would plan it each time, because an unknown limit makes the generic plan look costly.
 */
export async function readInIndexOrder<Result>(
  db: Db,
  { plansOnce }: { plansOnce: boolean },
  read: (db: Db) => Promise<Result>,
): Promise<Result> {
  return db.connection().execute(async (connection) => {
    await sql.raw(plansOnce ? `${begin}; set local plan_cache_mode = force_generic_plan` : begin).execute(connection)
    try {
      return await read(connection)
    } finally {
      // The transaction wrote nothing, so it is rolled back after success and failure alike.
      await sql`rollback`.execute(connection)
    }
  })
}

/** The statements that begin the read, in one round trip. */
const begin = [
  'begin transaction isolation level repeatable read read only',
  ...['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'].map((plan) => `set local enable_${plan} = off`),
  'set local jit = off',
].join('; ')
