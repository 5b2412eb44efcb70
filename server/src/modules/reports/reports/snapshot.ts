import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'

/** Memory of one sort or hash of a report; a larger one uses the disk. */
const sortMemory = '64MB'

/** Runs `read` in one snapshot of the database, so that all figures of a report agree. */
export async function inSnapshot<Result>(db: Db, read: (trx: Trx) => Promise<Result>): Promise<Result> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      await sql`select set_config('work_mem', ${sortMemory}, true), set_config('jit', 'off', true)`.execute(trx)
      return read(trx)
    })
}
