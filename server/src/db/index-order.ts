import { sql } from 'kysely'
import type { Db } from './client.ts'

/**
 * Reads in one snapshot, with plans that walk indexes in their order and stop when they have enough. Left alone, the
 * planner believes for some filters and table sizes that reading and sorting everything is cheaper; that is right on
 * average and wrong for the request that it happens to. Compilation is off because it costs more than such a read.
 *
 * `plansOnce` is for reads whose statements are all alike: what is `prepared` is planned at its first use, for any
 * parameters. PostgreSQL would go on planning it, believing that a limit it does not know makes the plan a dear one.
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
      // Nothing was written: to end the transaction is all there is to do, whatever came of it.
      await sql`rollback`.execute(connection)
    }
  })
}

/** Several statements in one round trip. */
const begin = [
  'begin transaction isolation level repeatable read read only',
  ...['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'].map((plan) => `set local enable_${plan} = off`),
  'set local jit = off',
].join('; ')
