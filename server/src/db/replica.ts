import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { replicaWaitMilliseconds, replicaWarningMilliseconds } from '../lib/limits.ts'
import type { Db } from './client.ts'

export type Warn = (error: unknown, text: string) => void

export type Replica = {
  /**
   * Returns the connections to the replica once it has everything that was committed before; null when the replica must not be
   * used now.
   */
  whenCaughtUp(): Promise<Db | null>
  warn: Warn
}

const pollMilliseconds = 10

/**
 * Creates the access to a replica. A read sees everything that was committed when it began, so that it never shows a right that
 * was taken away, and never lacks a deposit that was acknowledged. It waits for a bounded time until the replica has the commits.
 */
export function createReplica({ primary, replica, warn }: { primary: Db; replica: Db; warn: Warn }): Replica {
  let warnedAt = Number.NEGATIVE_INFINITY
  return {
    warn,
    async whenCaughtUp() {
      try {
        await catchUp(primary, replica)
        return replica
      } catch (error) {
        // A missing replica affects every report, so the warning is not repeated for each report.
        if (performance.now() - warnedAt >= replicaWarningMilliseconds) {
          warn(error, 'reports are read from the database itself, because the replica cannot be used')
          warnedAt = performance.now()
        }
        return null
      }
    },
  }
}

type Place = { isReplica: boolean; system: string; database: string }

/** SQL: identifies the database. A replica has the same values as its primary, except for `isReplica`. */
const place = sql`pg_is_in_recovery() as "isReplica", (select system_identifier::text from pg_control_system()) as system,
  current_database() as database`

/** @throws Error with the reason for which the replica must not be used */
async function catchUp(primary: Db, replica: Db): Promise<void> {
  const { rows } = await sql<Place & { position: string }>`
    select ${place}, pg_current_wal_insert_lsn()::text as position`.execute(primary)
  const wanted = rows[0]!
  for (const deadline = performance.now() + replicaWaitMilliseconds; ; await sleep(pollMilliseconds)) {
    const { rows: found } = await sql<Place & { hasAll: boolean | null }>`
      select ${place}, pg_last_wal_replay_lsn() >= ${wanted.position}::pg_lsn as "hasAll"`.execute(replica)
    const { isReplica, system, database, hasAll } = found[0]!
    if (!isReplica || system !== wanted.system || database !== wanted.database) {
      throw new Error('REPORTS_DATABASE_URL does not name a replica of this database')
    }
    if (hasAll === true) return
    if (performance.now() >= deadline) throw new Error(`The replica is more than ${replicaWaitMilliseconds} ms behind`)
  }
}
