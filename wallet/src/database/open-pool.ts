import pg from 'pg'
import type { Logger } from 'pino'
import { databasePatienceMilliseconds, databaseStatementMilliseconds } from '../limits.ts'
import { DatabaseClient } from './database-client.ts'
import { refuseUnconfirmedCommits } from './unconfirmed-commit.ts'

/** Opens the connection pool; numeric and bigint columns arrive as strings and stay strings until `BigInt` reads them. */
export function openPool(databaseUrl: string, log: Logger): pg.Pool {
  const pool = new pg.Pool({
    Client: DatabaseClient as never,
    connectionString: databaseUrl,
    max: 10,
    connectionTimeoutMillis: 5_000,
    statement_timeout: databaseStatementMilliseconds,
    // A server that was stopped or cut off answers nothing and closes nothing.
    query_timeout: databaseStatementMilliseconds + databasePatienceMilliseconds,
    keepAlive: true,
    keepAliveInitialDelayMillis: databasePatienceMilliseconds,
    // A process that was paused while it assigned a nonce must not block the others forever.
    idle_in_transaction_session_timeout: 30_000,
    application_name: 'strongroom-wallet',
  })
  const noteLoss = (error: Error) => log.warn({ error: error.message }, 'database connection lost')
  // Without a listener, an error of a connection ends the process. The pool reports errors of idle connections, and a
  // connection in use reports its own errors.
  pool.on('error', noteLoss)
  pool.on('connect', (client) => {
    client.on('error', noteLoss)
    refuseUnconfirmedCommits(client)
  })
  return pool
}
