import { randomBytes } from 'node:crypto'
import { databaseConnectMilliseconds } from '../lib/limits.ts'
import { DatabaseClient } from './database-client.ts'

/**
 * Refuses a database whose advisory locks do not keep a second session out. Some engines that speak the protocol of PostgreSQL
 * accept such a lock and lock nothing. Two orders could then be decided at the same time.
 * @throws Error when two sessions get the same lock
 */
export async function assertLocksExclude(url: string): Promise<void> {
  const key = randomBytes(8).readBigInt64BE().toString()
  const clients = [0, 1].map(
    () => new DatabaseClient({ connectionString: url, connectionTimeoutMillis: databaseConnectMilliseconds }),
  )
  for (const client of clients) client.on('error', () => {})
  try {
    const taken: boolean[] = []
    for (const client of clients) {
      await client.connect()
      await client.query('begin')
      const { rows } = await client.query('select pg_try_advisory_xact_lock($1::bigint) as taken', [key])
      taken.push(rows[0].taken)
    }
    if (taken[0] !== true || taken[1] !== false) throw new Error(refusal)
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

const refusal =
  'The database gave an advisory lock to two sessions at once; the service needs PostgreSQL itself, or an engine with its locks ' +
  '(docs/scale.md)'
