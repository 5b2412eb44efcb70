import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createApp } from './app.ts'
import { adoptKey } from './composition/seal-again.ts'
import type { Config } from './config/config.ts'
import { forgetOrigin, recordOrigin } from './config/running-service.ts'
import { makeSecretKey } from './config/secret-key-file.ts'
import { createChangeSignal } from './db/change-signal.ts'
import { connectionsOf, openDatabase } from './db/client.ts'
import { holdEpoch } from './db/epoch.ts'
import { createHeartbeat } from './db/heartbeat.ts'
import { assertLocksExclude } from './db/lock-check.ts'
import { migrate } from './db/migrate.ts'
import { useRecordKey } from './db/record-key.ts'
import { openSlowReads } from './db/slow-reads.ts'
import { inTransaction } from './db/transaction.ts'
import { waitForDatabase } from './db/wait-for-database.ts'
import type { Deps } from './deps.ts'
import { startEmbeddedPostgres, toServiceUrl } from './embedded-postgres/start.ts'
import type { App } from './http/endpoints.ts'
import { startTasks } from './jobs/tasks.ts'
import { countLines } from './lib/counted-line.ts'
import { createRecordKey } from './lib/record-key.ts'
import { createSealKey } from './lib/seal-key.ts'
import { createSealer } from './lib/secrets.ts'
import { createLogger } from './logger.ts'
import { addPlatformAdmin } from './modules/people/users/actions.ts'

export type RunningServer = {
  url: string
  deps: Deps
  app: App
  /** Resolves with the reason, in one line, when the node cannot continue and must be stopped. */
  failed: Promise<string>
  stop(): Promise<void>
}

/** Starts one node of the service: database (embedded unless DATABASE_URL), migrations, HTTP, background tasks. */
export async function startServer(config: Config, clock: () => Date = () => new Date()): Promise<RunningServer> {
  const log = createLogger(config.logLevel)
  for (const risk of config.allowedRisks) log.warn({ risk }, 'an unsafe setting is accepted because of ALLOW_INSECURE')
  for (const warning of config.warnings) log.warn(warning)
  const stops: (() => Promise<void>)[] = []
  const stop = async () => {
    const failures: unknown[] = []
    for (const step of stops.splice(0).reverse()) await step().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw new AggregateError(failures, 'Strongroom did not stop cleanly')
  }
  try {
    const { url, ownerUrl, failed } =
      config.databaseUrl === null
        ? await startOwnDatabase(config, log, stops)
        : {
            url: config.databaseUrl,
            ownerUrl: config.databaseOwnerUrl ?? config.databaseUrl,
            failed: new Promise<never>(() => {}),
          }
    if (config.databaseUrl !== null) {
      const seconds = config.databaseWaitSeconds
      const say = (reason: string) =>
        log.warn({ reason }, `the database cannot be used yet; waiting up to ${seconds} s`)
      await waitForDatabase(ownerUrl, { seconds, say })
    }
    await migrate(ownerUrl, url, { say: (line) => log.warn(line) })
    await assertLocksExclude(url)
    const epoch = await holdEpoch(url, log)
    stops.push(() => epoch.release())

    const { deps, close } = await openDeps(config, url, log, clock)
    stops.push(close)
    if (config.adminEmail !== null) {
      const email = config.adminEmail
      await inTransaction(deps.db, (trx) => addPlatformAdmin(trx, email, clock()))
    }
    const app = await createApp(deps)
    let stopTasks = async () => {}
    stops.push(async () => void (await Promise.all([app.close(), stopTasks()])))
    await app.listen({ port: config.port, host: config.host })
    if (config.publicUrl === null) {
      const origin = toLocalOrigin(app.server.address() as AddressInfo)
      deps.publicOrigin = () => origin
      await recordOrigin(config.dataDir, origin)
      stops.push(() => forgetOrigin(config.dataDir))
    }
    stopTasks = startTasks(deps)
    stops.push(deps.heartbeat.start())
    const origin = deps.publicOrigin()
    log.info({ url: origin }, 'Strongroom is ready')
    return { url: origin, deps, app, failed, stop }
  } catch (error) {
    await stop().catch((failure: unknown) => log.error({ err: failure }, 'stopping after a failed start'))
    throw error
  }
}

async function startOwnDatabase(
  config: Config,
  log: Logger,
  stops: (() => Promise<void>)[],
): Promise<{ url: string; ownerUrl: string; failed: Promise<string> }> {
  const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir, log: (message) => log.info(message) })
  stops.push(() => embedded.stop())
  const logFile = join(config.dataDir, 'postgres.log')
  return {
    url: toServiceUrl(config.dataDir, embedded.url),
    ownerUrl: embedded.url,
    failed: embedded.died.then(
      () => `The embedded PostgreSQL has ended, and Strongroom ends with it; see ${logFile} and start it again`,
    ),
  }
}

/** Returns the URL for a browser on this machine. `localhost` also stands for the addresses of every interface. */
function toLocalOrigin({ address, port, family }: AddressInfo): string {
  if (['127.0.0.1', '::1', '0.0.0.0', '::'].includes(address)) return `http://localhost:${port}`
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Opens the dependencies of the modules, on a database that is already migrated. `close` ends them. */
export async function openDeps(
  config: Config,
  databaseUrl: string,
  log: Logger,
  clock: () => Date,
): Promise<{ deps: Deps; close(): Promise<void> }> {
  const onError = countLines<Error>({
    begun: (err) => log.warn({ err }, 'database connection lost'),
    goesOn: (connections) => log.warn({ connections }, 'database connections lost'),
    ended: (connections) => log.info({ connections }, 'no database connection is lost any more'),
  })
  const { db, pool, gate } = openDatabase({ url: databaseUrl, onError })
  gate.onChange((isOpen) => {
    if (isOpen) log.info('commits are confirmed by a standby again')
    else log.error('no standby confirms commits: changes are refused until one does')
  })
  const secretKey = config.secretKey ?? (await makeSecretKey(config.dataDir))
  const recordKey = createRecordKey(secretKey)
  useRecordKey(db, recordKey)
  const { slowReads, close: closeSlowReads } = openSlowReads({
    url: databaseUrl,
    replicaUrl: config.reportsDatabaseUrl,
    recordKey,
    warn: (error, text) => log.warn({ err: error }, text),
  })
  const changeSignal = createChangeSignal({ url: databaseUrl, db, log })
  const sealer = createSealer(secretKey)
  const deps: Deps = {
    config,
    db,
    databaseUrl,
    slowReads,
    changeSignal,
    heartbeat: createHeartbeat(db, gate),
    sealer,
    sealKey: createSealKey(secretKey),
    log,
    clock,
    connections: () => connectionsOf(pool),
    publicOrigin: () => config.publicUrl ?? `http://localhost:${config.port}`,
  }
  const close = async () => {
    await changeSignal.close()
    await Promise.all([db.destroy(), closeSlowReads()])
  }
  try {
    await adopt(deps)
  } catch (error) {
    await close()
    throw error
  }
  return { deps, close }
}

/**
 * Seals values of an earlier format again, once, because they are not bound to a place. Refuses a key that is not the key of the
 * database.
 */
async function adopt({ db, sealer, log, clock }: Deps): Promise<void> {
  const { resealed, unreadable } = await inTransaction(db, (trx) => adoptKey(trx, sealer, clock()))
  if (resealed > 0) log.warn({ resealed }, 'secrets of an earlier version were sealed again')
  for (const { table, column, row } of unreadable) {
    log.error({ table, column, row: row.join(' ') }, 'a sealed secret cannot be opened')
  }
}
