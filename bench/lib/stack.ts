import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { readConfig } from '../../server/src/config/config.ts'
import { startEmbeddedPostgres } from '../../server/src/embedded-postgres/start.ts'
import { createLogger, openDeps } from '../../server/src/start.ts'
import { watchDirectory } from '../../server/src/testing/cleanup.ts'

/** A PostgreSQL and one node of the service as released, with their own temporary data. */
export type Stack = {
  databaseUrl: string
  /** The environment of the node. */
  settings: Record<string, string>
  /** The database's owner. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  port: number
  nodePid: number
  stop(): Promise<void>
}

export const webhookSecret = 'a secret of the bench with enough bytes'

export async function startStack({ nodeArguments = [] as string[] } = {}): Promise<Stack> {
  leaveSqlBesideCode()
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-bench-'))
  const cleanup = watchDirectory(dataDir)
  const postgres = await startEmbeddedPostgres({ dataDir })
  const pool = new pg.Pool({ connectionString: postgres.url, max: 4 })
  pool.on('error', () => {})
  const settings = {
    DEMO: 'true',
    DATA_DIR: dataDir,
    DATABASE_URL: postgres.url,
    PUBLIC_URL: 'http://localhost:8420',
    WALLET_WEBHOOK_SECRET: webhookSecret,
    LOG_LEVEL: 'error',
  }
  const node = fork(fileURLToPath(new URL('serve.js', import.meta.url)), {
    env: { PATH: process.env.PATH ?? '', ...settings },
    execArgv: nodeArguments,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return {
    databaseUrl: postgres.url,
    settings,
    sql: async (text, values = []) => (await pool.query(text, values)).rows,
    port: await portOf(node),
    nodePid: node.pid!,
    async stop() {
      const exited = once(node, 'exit')
      node.kill('SIGTERM')
      await exited
      await pool.end()
      await postgres.stop()
      rmSync(dataDir, { recursive: true, force: true })
      cleanup.dismiss()
    },
  }
}

/** The dependencies of another node of the same service, in this process. */
export function openServiceDeps({ settings, databaseUrl }: Stack): ReturnType<typeof openDeps> {
  const config = readConfig(settings)
  return openDeps(config, databaseUrl, createLogger(config.logLevel), () => new Date())
}

async function portOf(node: ChildProcess): Promise<number> {
  const [message] = (await Promise.race([
    once(node, 'message'),
    once(node, 'exit').then(([code]) => {
      throw new Error(`The service ended with ${code} while it was starting`)
    }),
  ])) as [{ port: number }]
  return message.port
}

/** The compiled code reads its migrations and pages from its own folder. */
export function leaveSqlBesideCode(): void {
  const compiled = new URL('../../server/src/', import.meta.url)
  const source = new URL('../../../../server/src/', import.meta.url)
  for (const part of ['db/migrations', 'db/roles.sql', 'pages/assets']) {
    cpSync(new URL(part, source), new URL(part, compiled), { recursive: true })
  }
}
