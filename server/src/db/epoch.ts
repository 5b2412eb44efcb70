import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { databaseConnectMilliseconds } from '../lib/limits.ts'
import { DatabaseClient } from './database-client.ts'

/**
 * The epoch of the schema with which this version works. When nodes of the previous version cannot work with a migration, the
 * migration raises the epoch, here and in the function `schema_epoch` of the database.
 */
export const schemaEpoch = 1

/** The option that tells the database the epoch of a connection. The tables refuse writes of an earlier epoch. */
export const epochOption = `-c strongroom.epoch=${schemaEpoch}`

/** The advisory lock that nodes hold shared. A migration that raises the epoch takes it exclusively. */
const epochLock = 7_365_001

const lookAgainMilliseconds = 1_000
/** The application name of the connections of nodes. Versions before epochs use it too. */
const nodeName = 'strongroom'

type HeldEpoch = { release(): Promise<void> }

/**
 * Holds the epoch for a running node, on a connection of its own. A lost connection is opened again.
 * @throws Error when the database has another epoch
 */
export async function holdEpoch(url: string, log: Pick<Logger, 'warn'>): Promise<HeldEpoch> {
  let client: pg.Client | null = null
  let retry: NodeJS.Timeout | undefined
  let isReleased = false
  let isTold = false

  const open = async (): Promise<void> => {
    const opened = new DatabaseClient({
      connectionString: url,
      application_name: nodeName,
      connectionTimeoutMillis: databaseConnectMilliseconds,
      keepAlive: true,
    })
    const lost = () => {
      if (client !== opened || isReleased) return
      client = null
      retry = setTimeout(reopen, lookAgainMilliseconds)
      retry.unref()
    }
    opened.on('error', lost)
    opened.on('end', lost)
    try {
      await opened.connect()
      await opened.query('select pg_advisory_lock_shared($1)', [epochLock])
      await assertEpoch(opened)
    } catch (error) {
      await opened.end().catch(() => {})
      throw error
    }
    client = opened
    isTold = false
    // The node may have ended while the connection was opened again.
    if (isReleased) await opened.end().catch(() => {})
  }
  const reopen = () =>
    void open().catch((error: Error) => {
      if (!isTold) log.warn({ error: error.message }, 'the connection that holds the epoch of the schema was lost')
      isTold = true
      if (isReleased) return
      retry = setTimeout(reopen, lookAgainMilliseconds)
      retry.unref()
    })

  await open()
  return {
    async release() {
      isReleased = true
      clearTimeout(retry)
      await client?.end().catch(() => {})
    },
  }
}

async function assertEpoch(client: pg.Client): Promise<void> {
  const epoch = await readEpoch(client)
  if (epoch === schemaEpoch) return
  throw new Error(`The schema of the database has epoch ${epoch}, and this version works with ${schemaEpoch}`)
}

/** Returns the epoch of the database; 0 for a version before epochs, or an empty database. */
async function readEpoch(client: pg.Client): Promise<number> {
  const { rows } = await client.query(`select to_regproc('public.schema_epoch') is not null as is_there`)
  if (!rows[0].is_there) return 0
  return (await client.query('select schema_epoch() as epoch')).rows[0].epoch
}

/**
 * Runs a migration. A migration that raises the epoch of a database in use runs while no node runs, and no node can start
 * meanwhile.
 * @param waits true to wait until the nodes have ended, false to fail while a node runs
 * @throws Error that names the nodes that still run
 */
export async function migrateAlone(
  url: string,
  { waits, say }: { waits: boolean; say: (line: string) => void },
  run: () => Promise<void>,
): Promise<void> {
  const client = new DatabaseClient({ connectionString: url, connectionTimeoutMillis: databaseConnectMilliseconds })
  client.on('error', () => {})
  await client.connect()
  try {
    if (await raisesEpoch(client)) await takeEpoch(client, waits, say)
    await run()
  } finally {
    await client.end()
  }
}

async function raisesEpoch(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(`select to_regclass('public.schema_migrations') is not null as is_used`)
  const epoch = await readEpoch(client)
  if (epoch > schemaEpoch) {
    throw new Error(`The schema of the database has epoch ${epoch}, and this version works with ${schemaEpoch}`)
  }
  return rows[0].is_used && epoch < schemaEpoch
}

async function takeEpoch(client: pg.Client, waits: boolean, say: (line: string) => void): Promise<void> {
  let lastLine = ''
  for (;;) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as is_taken', [epochLock])
    const nodes = await listNodes(client)
    if (rows[0].is_taken && nodes.length === 0) return
    // When no node runs, another process holds the lock to migrate. Afterwards this process has nothing to migrate.
    const running = `Nodes of an earlier version still run: ${nodes.join(', ')}.`
    if (nodes.length > 0 && !waits) {
      throw new Error(`${running} Stop them and migrate again, or wait for them with "strongroom migrate --wait"`)
    }
    if (nodes.length > 0 && running !== lastLine) say(`${running} Waiting until they have ended.`)
    lastLine = running
    await sleep(lookAgainMilliseconds)
  }
}

/** Returns the addresses from which nodes connect, as far as this role sees them, each with its number of connections. */
async function listNodes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ host: string; connections: string }>(
    `select coalesce(host(client_addr), 'an unknown address') as host, count(*) as connections from pg_stat_activity
     where datname = current_database() and application_name = $1 and pid <> pg_backend_pid()
     group by 1 order by 1`,
    [nodeName],
  )
  return rows.map(({ host, connections }) => `${host} (${connections} connections)`)
}
