import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../server/src/config/config.ts'
import { createLogger } from '../../server/src/logger.ts'
import { openDeps } from '../../server/src/start.ts'
import { type Postgres, startPostgres } from './postgres.ts'

/** A PostgreSQL and one node of the service as released, with their own temporary data. */
export type Stack = {
  databaseUrl: string
  /** The environment of the node. */
  settings: Record<string, string>
  /** Runs a statement as the owner of the database. */
  sql: Postgres['sql']
  port: number
  nodePid: number
  stop(): Promise<void>
}

export const webhookSecret = 'a secret of the bench with enough bytes'

export async function startStack({ nodeArguments = [] as string[] } = {}): Promise<Stack> {
  leaveSqlBesideCode()
  const postgres = await startPostgres()
  const settings = {
    DEMO: 'true',
    DATA_DIR: postgres.directory,
    DATABASE_URL: postgres.url,
    PUBLIC_URL: 'http://localhost:8420',
    WALLET_WEBHOOK_SECRET: webhookSecret,
    LOG_LEVEL: 'error',
  }
  const node = await startNode(settings, nodeArguments)
  return {
    databaseUrl: postgres.url,
    settings,
    sql: postgres.sql,
    port: node.port,
    nodePid: node.pid,
    async stop() {
      await node.stop()
      await postgres.stop()
    },
  }
}

/** Starts a node of the service in its own process. */
export async function startNode(
  settings: Record<string, string>,
  nodeArguments: string[] = [],
): Promise<{ port: number; pid: number; stop(): Promise<void> }> {
  const node = fork(fileURLToPath(new URL('serve.js', import.meta.url)), {
    env: { PATH: process.env.PATH ?? '', ...settings },
    execArgv: nodeArguments,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return {
    port: await portOf(node),
    pid: node.pid!,
    async stop() {
      const exited = once(node, 'exit')
      node.kill('SIGTERM')
      await exited
    },
  }
}

/** Opens the dependencies of another node of the same service, in this process. */
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

/** Copies SQL files and pages beside the compiled code, which reads them from its own folder. */
export function leaveSqlBesideCode(): void {
  const compiled = new URL('../../', import.meta.url)
  const source = new URL('../../../../', import.meta.url)
  const parts = [
    'server/src/db/migrations',
    'server/src/db/roles.sql',
    'server/src/pages/assets',
    'wallet/src/migrations',
  ]
  for (const part of parts) {
    cpSync(new URL(part, source), new URL(part, compiled), { recursive: true })
  }
}
