import { sql } from 'kysely'
import type { Db } from './client.ts'

/**
 * Reads in one snapshot, with plans that walk indexes in their order and stop when they have enough. Left alone, the
 * planner believes for some filters and table sizes that reading and sorting everything is cheaper; that is right on
 * average and wrong for the request that it happens to. Compilation is off because it costs more than such a read.
 */
export async function readInIndexOrder<Result>(db: Db, read: (db: Db) => Promise<Result>): Promise<Result> {
  return db.connection().execute(async (connection) => {
    await sql.raw(begin).execute(connection)
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
