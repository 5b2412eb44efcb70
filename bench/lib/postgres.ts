import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../server/src/embedded-postgres/start.ts'
import { watchDirectory } from '../../server/src/testing/cleanup.ts'

export type Postgres = {
  url: string
  /** The temporary data directory, removed at the end. */
  directory: string
  /** Runs a statement as the owner of the database. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  stop(): Promise<void>
}

/**
 * Starts a PostgreSQL with its data in a temporary directory. Both are removed when this process ends for any reason.
 */
export async function startPostgres({ fast = false } = {}): Promise<Postgres> {
  const directory = mkdtempSync(join(tmpdir(), 'strongroom-bench-'))
  const cleanup = watchDirectory(directory)
  // Ctrl-C reaches the whole process group. The process exits normally, and its exit handler also stops the server.
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
