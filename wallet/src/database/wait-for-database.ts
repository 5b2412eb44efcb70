import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { isDatabaseDown } from './is-database-down.ts'

const patienceMilliseconds = 60_000
const pauseMilliseconds = 500

/**
 * Waits until the database answers, so that a wallet service may start before its database, or while a cluster elects a leader.
 * Logs one line when it begins to wait.
 * @throws the error of the last attempt after 60 seconds, and at once an error that waiting does not mend, such as a wrong password
 */
export async function waitForDatabase(pool: pg.Pool, log: Logger): Promise<void> {
  const endsAt = performance.now() + patienceMilliseconds
  for (let isTold = false; ; isTold = true) {
    try {
      await pool.query('select')
      return
    } catch (error) {
      if (!isDatabaseDown(error as Error) || performance.now() > endsAt) throw error
      if (!isTold) log.warn({ error: (error as Error).message }, 'waiting up to 60 seconds for the database')
      await sleep(pauseMilliseconds)
    }
  }
}
