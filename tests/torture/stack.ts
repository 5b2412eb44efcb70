import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { type Db, openDatabase } from '../../server/src/db/client.ts'
import { useRecordKey } from '../../server/src/db/record-key.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../server/src/embedded-postgres/start.ts'
import { createRecordKey } from '../../server/src/lib/record-key.ts'
import { watchDirectory } from '../../server/src/testing/cleanup.ts'
import { copyCluster, copyEmptyCluster } from '../../server/src/testing/empty-cluster.ts'
import type { Random } from '../../server/src/testing/random.ts'

const recoveryMillisecondsMax = 60_000
const leaseSeconds = 60
const secretKey = 'a key of the torture that is long enough'

/** A PostgreSQL with fsync on and one node of the service as a process of its own, both of which the tests kill. */
export type Stack = {
  /** The node's URL, with a new port after each start; null while it is dead. */
  nodeUrl(): string | null
  /** The database's URL, with a new port after the whole machine died. */
  databaseUrl(): string
  /** Runs SQL as the owner of the database. */
  // biome-ignore lint/suspicious/noExplicitAny: what a query returns is for its caller to know.
  sql(text: string, values?: unknown[]): Promise<any[]>
  /** The database with the service's role, for its verifiers. */
  books(): Db
  startNode(): Promise<void>
  killNode(): Promise<void>
  /** Stops the node where it is; the function that it returns lets it go on. */
  freezeNode(): () => void
  /** Kills one server process of PostgreSQL, which ends all others with it, and waits until it has recovered. */
  killDatabase(backendPid: number): Promise<void>
  /** Simulates a power cut: neither the node nor PostgreSQL can clean up. Restarts the database. */
  killMachine(): Promise<void>
  /** @throws when the node ended without being killed */
  assertNodeLives(): void
  /** Runs `strongroom <words>` and expects it to succeed. */
  command(...words: string[]): Promise<void>
  stop(): Promise<void>
}

/** The database of a stack, as the checks read it. */
export type Books = Pick<Stack, 'sql' | 'books'>

/**
 * @param serverDir the folder of a built server: it holds `dist`
 * @param settings of the node, besides those that a stack needs
 * @param clusterDir a data directory with a migrated cluster, of which the stack gets a copy; without it the node migrates an empty one
 */
export async function startStack(
  serverDir: string,
  settings: Record<string, string> = {},
  clusterDir?: string,
): Promise<Stack> {
  const directory = mkdtempSync(join(tmpdir(), 'strongroom-torture-'))
  const cleanup = watchDirectory(directory)
  let node: { process: ChildProcess; url: string } | null = null
  let postgres: EmbeddedPostgres
  let pool: pg.Pool
  let books: Db

  const startPostgres = async () => {
    postgres = await startEmbeddedPostgres({ dataDir: directory })
    pool = new pg.Pool({ connectionString: postgres.url, max: 3 })
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    books = openDatabase({ url: postgres.url, connectionsMax: 2, statementMilliseconds: 0, onError: () => {} }).db
    useRecordKey(books, createRecordKey(secretKey))
  }
  const closeConnections = () => Promise.all([pool.end(), books.destroy()])

  // None of the surrounding settings, because they may name another database.
  const environment = () => ({
    PATH: process.env.PATH ?? '',
    DEMO: 'true',
    DATA_DIR: directory,
    DATABASE_URL: postgres.url,
    STRONGROOM_SECRET_KEY: secretKey,
    PORT: '0',
    LOG_LEVEL: 'fatal',
    ...settings,
  })
  const startNode = async () => {
    const child = fork(join(serverDir, 'dist/main.js'), {
      // None of the test runner's flags, which would load other files of the libraries than in production.
      execArgv: [],
      env: environment(),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const [message] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`The node ended with ${code} while it was starting`)
      }),
    ])) as [{ url: string }]
    node = { process: child, url: message.url }
  }

  const killNode = async () => {
    if (node === null) return
    const { process: child } = node
    node = null
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  try {
    if (clusterDir === undefined) copyEmptyCluster(directory)
    else copyCluster(clusterDir, directory)
    await startPostgres()
  } catch (error) {
    rmSync(directory, { recursive: true, force: true })
    cleanup.dismiss()
    throw error
  }
  return {
    nodeUrl: () => node?.url ?? null,
    databaseUrl: () => postgres.url,
    sql: async (text, values = []) => (await pool.query(text, values)).rows,
    books: () => books,
    startNode,
    killNode,
    freezeNode() {
      const { process: child } = node!
      child.kill('SIGSTOP')
      return () => void child.kill('SIGCONT')
    },
    async killDatabase(backendPid) {
      const witness = new pg.Client({ connectionString: postgres.url })
      witness.on('error', () => {})
      await witness.connect()
      const ended = new Promise((resolve) => witness.once('end', resolve))
      process.kill(backendPid, 'SIGKILL')
      await ended
      const deadline = Date.now() + recoveryMillisecondsMax
      // A new connection, because an old one may answer once more before it dies.
      while (!(await acceptsConnections(postgres.url))) {
        if (Date.now() > deadline) throw new Error('PostgreSQL did not recover')
        await sleep(10)
      }
    },
    async killMachine() {
      process.kill(postgres.pid, 'SIGKILL')
      await Promise.all([killNode(), closeConnections(), postgres.stop()])
      await startPostgres()
    },
    assertNodeLives() {
      const ended = node !== null && (node.process.exitCode ?? node.process.signalCode)
      if (typeof ended === 'number' || typeof ended === 'string') throw new Error(`The node ended by itself: ${ended}`)
    },
    async command(...words) {
      await promisify(execFile)(process.execPath, [join(serverDir, 'bin/strongroom.js'), ...words], {
        env: environment(),
      })
    },
    async stop() {
      await killNode()
      await closeConnections()
      await postgres.stop()
      rmSync(directory, { recursive: true, force: true })
      cleanup.dismiss()
    },
  }
}

/** A server process of PostgreSQL that works for the node. */
export async function anyBackend(stack: Stack, random: Random): Promise<number> {
  const backends = await stack.sql(
    `select pid from pg_stat_activity where application_name = 'strongroom' order by pid`,
  )
  return backends[random.below(backends.length)].pid
}

/**
 * The node that held them is dead, so its claims on transfers expire now instead of after a minute. Those of the new node
 * expire later than a lease after its start and are not changed.
 */
export async function restartNode(stack: Stack): Promise<void> {
  const startedAt = new Date()
  await stack.startNode()
  await stack.sql(
    `update deliveries set next_attempt_at = now() where queue in ('hand-over', 'follow')
     and next_attempt_at between now() and $1::timestamptz + make_interval(secs => $2)`,
    [startedAt, leaseSeconds],
  )
  await stack.sql('update followings set ask_at = now() where ask_at < $1::timestamptz + make_interval(secs => $2)', [
    startedAt,
    leaseSeconds,
  ])
}

async function acceptsConnections(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
