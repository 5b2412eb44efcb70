import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import {
  deviceCookieDays,
  exportRecordTtlHours,
  idempotencyTtlHours,
  purgedRowsPerTransactionMax,
  signInAttemptTtlHours,
} from '../lib/limits.ts'
import { repeat } from './repeat.ts'

const pauseMilliseconds = 600_000

/** Removes every ten minutes what has served its time. */
export function startHousekeeping(deps: Deps): () => Promise<void> {
  return repeat(deps, 'housekeeping', pauseMilliseconds, () => keepHouse(deps))
}

/** Removes stored answers, magic links, sign-in attempts, files of reports, sessions and devices that are over; one node at a time. */
export async function keepHouse({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  const now = clock()
  await purge(db, 'idempotency_keys', sql`created_at < ${hoursBefore(now, idempotencyTtlHours)}`)
  await purge(db, 'magic_links', sql`expires_at < ${now}`)
  await purge(db, 'sign_in_attempts', sql`attempted_at < ${hoursBefore(now, signInAttemptTtlHours)}`)
  await purge(db, 'failed_redemptions', sql`failed_at < ${hoursBefore(now, signInAttemptTtlHours)}`)
  await purge(db, 'known_devices', sql`last_seen_at < ${hoursBefore(now, deviceCookieDays * 24)}`)
  await purge(
    db,
    'report_export_chunks',
    sql`(vault_id, export_id) in (select vault_id, id from report_exports where expires_at < ${now})`,
  )
  await purge(db, 'report_exports', sql`expires_at < ${hoursBefore(now, exportRecordTtlHours)}`)
  await purge(db, 'sessions', sql`expires_at < ${now} or ends_at < ${now}`)
}

/** Deletes in short transactions, so that no lock is held for long however much there is. */
async function purge(db: Db, table: string, isOver: RawBuilder<unknown>): Promise<void> {
  for (;;) {
    const purged = await inTransaction(db, async (trx) => {
      const { numAffectedRows } = await sql`
        delete from ${sql.table(table)} where ctid = any(array(
          select ctid from ${sql.table(table)}
          where (${isOver}) and (select pg_try_advisory_xact_lock(hashtextextended('strongroom housekeeping', 0)))
          limit ${purgedRowsPerTransactionMax}))`.execute(trx)
      return Number(numAffectedRows ?? 0n)
    })
    if (purged < purgedRowsPerTransactionMax) return
  }
}

function hoursBefore(now: Date, hours: number): Date {
  return new Date(now.getTime() - hours * 3_600_000)
}
