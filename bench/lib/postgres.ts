import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../server/src/embedded-postgres/start.ts'
import { watchDirectory } from '../../server/src/testing/cleanup.ts'

export type Postgres = {
  url: string
  /** Removed in the end. */
  directory: string
  /** The database's owner. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  stop(): Promise<void>
}

/** A PostgreSQL with its data in a temporary directory. Both are gone when this process is, however it ends. */
export async function startPostgres({ fast = false } = {}): Promise<Postgres> {
  const directory = mkdtempSync(join(tmpdir(), 'strongroom-bench-'))
  const cleanup = watchDirectory(directory)
  // Ctrl-C reaches the whole group: the process ends in the ordinary way, in which the server is told to end, too.
  const interrupt = () => process.exit(130)
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  const server = await startEmbeddedPostgres({ dataDir: directory, fast })
  const pool = new pg.Pool({ connectionString: server.url, max: 4 })
  pool.on('error', () => {})
  return {
    url: server.url,
    directory,
    sql: async (text, values = []) => (await pool.query(text, values)).rows,
    async stop() {
      await pool.end()
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
      cleanup.dismiss()
    },
  }
}
