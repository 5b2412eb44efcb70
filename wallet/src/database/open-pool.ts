import pg from 'pg'
import type { Logger } from 'pino'

/** Opens the connection pool; numeric and bigint columns arrive as strings and stay strings until `BigInt` reads them. */
export function openPool(databaseUrl: string, log: Logger): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 10,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    // A process that was paused while it assigned a nonce must not block the others forever.
    idle_in_transaction_session_timeout: 30_000,
    application_name: 'strongroom-wallet',
  })
  // An idle connection that the server ends emits an error here; without a listener it would end the process.
  pool.on('error', (error) => log.warn({ error: error.message }, 'database connection lost'))
  return pool
}
