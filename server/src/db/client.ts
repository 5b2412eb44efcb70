import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import type { DB } from './types.ts'

export type Db = Kysely<DB>
export type Trx = Transaction<DB>

type ClientOptions = { url: string; connectionsMax?: number; onError: (error: Error) => void }

/**
 * Opens the pool that the service works with. Every connection acts as `strongroom_app`, the role that may not rewrite
 * the record; bigint and numeric arrive as strings and stay so until lib/money.ts reads them.
 */
export function openDatabase({ url, connectionsMax = 20, onError }: ClientOptions): { db: Db; pool: pg.Pool } {
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    application_name: 'strongroom',
    options:
      '-c role=strongroom_app -c timezone=UTC -c statement_timeout=30000 -c idle_in_transaction_session_timeout=60000',
  })
  pool.on('error', onError)
  pool.on('connect', (client) => client.on('error', onError))
  return { db: new Kysely<DB>({ dialect: new PostgresDialect({ pool }) }), pool }
}
