import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../db/migrate.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/start.ts'
import { watchDirectory } from './cleanup.ts'
import { copyEmptyCluster } from './empty-cluster.ts'

/** A PostgreSQL server for one test, with a streaming replica. */
export type ReplicatedDatabase = {
  /** Returns the URL of the same database in the replica. */
  toReplica(url: string): string
  /** Runs a statement in a database of the replica, as its superuser. */
  // biome-ignore lint/suspicious/noExplicitAny: the test knows the columns of its query.
  onReplica(databaseUrl: string, statement: string): Promise<any[]>
  stopReplica(): Promise<void>
  /** Starts the replica again after `stopReplica`. */
  startReplica(): Promise<void>
  /** With true, commits of new connections wait until the replica has them; with false, commits do not wait. */
  waitForReplica(waits: boolean): Promise<void>
  /** Ends the server, and lets the replica take its place. */
  failOver(): Promise<void>
  /** Makes `createTestDatabase` of this process clone databases of the server, until `close`. */
  close(): Promise<void>
}

export async function startReplicatedDatabase(): Promise<ReplicatedDatabase> {
  const root = mkdtempSync(join(tmpdir(), 'strongroom-replicated-'))
  const cleanup = watchDirectory(root)
  const [dataDir, replicaDir] = [join(root, 'server'), join(root, 'replica')]
  for (const folder of [dataDir, replicaDir]) mkdirSync(folder)
  copyEmptyCluster(dataDir)
  // Only a stopped server may be copied, and both must have the same origin.
  await (await startEmbeddedPostgres({ dataDir, fast: true })).stop()
  for (const name of ['postgres', 'postgres-password']) {
    cpSync(join(dataDir, name), join(replicaDir, name), { recursive: true })
  }
  const server = await startEmbeddedPostgres({ dataDir, fast: true })
  const { hostname, port, username, password } = new URL(server.url)
  const source = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`
  appendFileSync(join(replicaDir, 'postgres', 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
  writeFileSync(join(replicaDir, 'postgres', 'standby.signal'), '')
  let replica = await startEmbeddedPostgres({ dataDir: replicaDir, fast: true })

  const template = 'template_of_test'
  await run(server.url, `create database ${template}`)
  const templateUrl = new URL(server.url)
  templateUrl.pathname = `/${template}`
  await migrate(templateUrl.href)
  const before = { ...process.env }
  process.env.TEST_DATABASE_URL = server.url
  process.env.TEST_TEMPLATE_DATABASE = template

  const toReplica = (url: string) => {
    const there = new URL(url)
    there.port = String(replica.port)
    return there.href
  }
  return {
    toReplica,
    onReplica: (databaseUrl, statement) => run(toReplica(databaseUrl), statement),
    stopReplica: () => replica.stop(),
    async startReplica() {
      replica = await startEmbeddedPostgres({ dataDir: replicaDir, fast: true })
    },
    async waitForReplica(waits) {
      // A server for tests has synchronous_commit off on its command line, which a setting of roles overrides.
      if (waits) await run(server.url, 'alter role all set synchronous_commit = on')
      await run(server.url, `alter system set synchronous_standby_names = '${waits ? '*' : ''}'`)
      await run(server.url, 'select pg_reload_conf()')
    },
    async failOver() {
      await server.stop()
      await run(toReplica(server.url), 'select pg_promote()')
    },
    async close() {
      process.env.TEST_DATABASE_URL = before.TEST_DATABASE_URL
      process.env.TEST_TEMPLATE_DATABASE = before.TEST_TEMPLATE_DATABASE
      await replica.stop()
      await server.stop()
      cleanup.dismiss()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Starts a server in recovery that follows another server, and has a database of the same name. */
export async function startStrangeReplica(databaseUrl: string): Promise<{ url: string; close(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-strange-replica-'))
  const cleanup = watchDirectory(dataDir)
  const { pathname } = new URL(databaseUrl)
  const server = await startEmbeddedPostgres({ dataDir, fast: true })
  await run(server.url, 'create role strongroom_app')
  await run(server.url, `create database ${pathname.slice(1)}`)
  await server.stop()
  writeFileSync(join(dataDir, 'postgres', 'standby.signal'), '')
  const replica = await startEmbeddedPostgres({ dataDir, fast: true })
  const url = new URL(replica.url)
  url.pathname = pathname
  return {
    url: url.href,
    async close() {
      await replica.stop()
      cleanup.dismiss()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function run(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
