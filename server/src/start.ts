import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { type Logger, pino } from 'pino'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { openDatabase } from './db/client.ts'
import { startEmbeddedPostgres } from './db/embedded.ts'
import { createJobQueue } from './db/job-queue.ts'
import { migrate } from './db/migrate.ts'
import type { Deps } from './deps.ts'
import type { App } from './http/route.ts'
import { createSealer, newSecret } from './lib/secrets.ts'

export type RunningServer = { url: string; deps: Deps; app: App; stop(): Promise<void> }

/** Starts one node of the service: database (embedded unless DATABASE_URL), migrations, HTTP, jobs. */
export async function startServer(config: Config, clock: () => Date = () => new Date()): Promise<RunningServer> {
  const log = createLogger(config.logLevel)
  const stops: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step()
  }
  try {
    const embedded = config.databaseUrl === null ? await startEmbeddedPostgres({ dataDir: config.dataDir }) : null
    if (embedded !== null) stops.push(() => embedded.stop())
    const databaseUrl = config.databaseUrl ?? embedded!.url
    await migrate(databaseUrl)

    const { deps, close } = await openDeps(config, databaseUrl, log, clock)
    stops.push(close)
    const app = await createApp(deps)
    stops.push(() => app.close())
    await app.listen({ port: config.port, host: config.host })
    return { url: deps.publicOrigin(), deps, app, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** What the modules need, on a database that is already migrated; `close` ends it. */
export async function openDeps(
  config: Config,
  databaseUrl: string,
  log: Logger,
  clock: () => Date,
): Promise<{ deps: Deps; close(): Promise<void> }> {
  const { db, pool } = openDatabase({
    url: databaseUrl,
    onError: (error) => log.warn({ err: error }, 'database connection lost'),
  })
  const deps: Deps = {
    config,
    db,
    jobs: createJobQueue(pool, (error) => log.error({ err: error }, 'job queue')),
    sealer: createSealer(config.secretKey ?? (await demoSecretKey(config.dataDir))),
    log,
    clock,
    publicOrigin: () => config.publicUrl ?? `http://localhost:${config.port}`,
  }
  await sql`select 1`.execute(db)
  return { deps, close: () => db.destroy() }
}

/** Demo mode makes its own key once; outside it config.ts has demanded one. */
async function demoSecretKey(dataDir: string): Promise<string> {
  const file = join(dataDir, 'secret-key')
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch {
    await mkdir(dataDir, { recursive: true })
    const key = newSecret()
    await writeFile(file, `${key}\n`, { mode: 0o600, flag: 'wx' })
    return key
  }
}

/** Logs as JSON lines; what could hold a secret is not written. */
export function createLogger(level: string): Logger {
  return pino({
    level,
    redact: {
      paths: [
        'req.headers.authorization',
        'req.headers.cookie',
        '*.token',
        '*.secret',
        '*.password',
        '*.authorization',
        '*.cookie',
      ],
      censor: '[redacted]',
    },
  })
}
