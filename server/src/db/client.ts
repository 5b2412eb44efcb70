import { createHash } from 'node:crypto'
import { Kysely, PostgresDialect, type Selectable, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { databaseConnectMilliseconds, statementMilliseconds as statementMillisecondsDefault } from '../lib/limits.ts'
import { DatabaseClient } from './database-client.ts'
import { epochOption } from './epoch.ts'
import { noteLostCommits } from './lost-commit.ts'
import { repeatVictims } from './repeat-victim.ts'
import { endSilence } from './silence.ts'
import type { DB } from './types.ts'
import { createWriteGate, type WriteGate } from './write-gate.ts'

export type Db = Kysely<DB>
export type Trx = Transaction<DB>

/**
 * A row of a table as it is read. `Known` adds the columns that the statement joins, and gives a column a type that the
 * database does not state, such as a closed list.
 */
export type RowOf<Table, Known> = Omit<Selectable<Table>, keyof Known> & Known

const preparedMark = '/* prepared */'

/**
 * Marks a frequent statement, at its start or, by `modifyEnd`, at its end. PostgreSQL parses and plans it once per connection,
 * which costs more than running it. Use it only for texts that never vary, because each connection keeps every text.
 */
export const prepared = sql.raw<never>(preparedMark)

type ClientOptions = {
  url: string
  connectionsMax?: number
  /** The time limit of a statement; 0 means no limit. */
  statementMilliseconds?: number
  onError: (error: Error) => void
}

/** A client that is gone, for example behind a cut network, then holds its locks for seconds and not for hours. */
const peerSettings = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3'

/**
 * Opens the pool of the service. Every connection acts as `strongroom_app`, the role that may not rewrite the audit log. bigint
 * and numeric values arrive as strings and stay strings until lib/money.ts reads them.
 */
export function openDatabase({
  url,
  connectionsMax = 20,
  statementMilliseconds = statementMillisecondsDefault,
  onError,
}: ClientOptions): { db: Db; pool: pg.Pool; gate: WriteGate } {
  const gate = createWriteGate()
  const pool = new pg.Pool({
    Client: DatabaseClient as never,
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: databaseConnectMilliseconds,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'strongroom',
    options:
      `-c role=strongroom_app -c timezone=UTC -c statement_timeout=${statementMilliseconds} -c ` +
      `idle_in_transaction_session_timeout=60000 ${epochOption} ${peerSettings}`,
  })
  pool.on('error', onError)
  pool.on('connect', (client) => {
    client.on('error', onError)
    nameMarkedStatements(client)
    noteLostCommits(client, gate)
  })
  endSilence(pool, { url, statementMilliseconds, onError })
  // After the watch over silence, so that each repeated statement is watched.
  pool.on('connect', repeatVictims)
  return { db: new Kysely<DB>({ dialect: new PostgresDialect({ pool }) }), pool, gate }
}

export function connectionsOf({ totalCount, idleCount, waitingCount }: pg.Pool) {
  return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount }
}

const names = new Map<string, string>()

/** Gives marked statements a name. pg prepares a named statement at its first use on a connection. */
function nameMarkedStatements(client: pg.PoolClient): void {
  const query = (...parts: unknown[]) =>
    (pg.Client.prototype.query as (...parameters: unknown[]) => unknown).apply(client, parts)
  const queryByName = (text: unknown, ...rest: unknown[]) =>
    typeof text === 'string' && (text.startsWith(preparedMark) || text.endsWith(preparedMark))
      ? query({ text, values: rest[0], name: nameOf(text) })
      : query(text, ...rest)
  client.query = queryByName as typeof client.query
}

function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = createHash('sha256').update(text).digest('base64url')
  names.set(text, name)
  return name
}
