import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { urlsOfHosts } from '../lib/database-hosts.ts'
import { databaseConnectMilliseconds } from '../lib/limits.ts'

/** Thrown when a connection leads to a standby, which takes no writes. PostgreSQL uses the same code for a write on a standby. */
export class StandbyError extends Error {
  readonly code = '25006'
  constructor() {
    super('The database is a standby, which takes no writes; DATABASE_URL must lead to the primary')
  }
}

/** The URL of the host that took writes last, by the URL that names all hosts. */
const primaries = new Map<string, string>()

/** Lets the next connection look for the primary anew. */
export function forgetPrimary(url: string): void {
  primaries.delete(url)
}

/**
 * A connection to the host that takes writes, if its URL names several hosts. With one host it is a plain connection. After a
 * failed attempt, the next attempt asks all hosts.
 */
export class DatabaseClient extends pg.Client {
  readonly #url: string

  constructor(config: pg.ClientConfig & { connectionString: string }) {
    const [first] = urlsOfHosts(config.connectionString)
    super({ ...config, connectionString: first! })
    this.#url = config.connectionString
  }

  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    if (urlsOfHosts(this.#url).length === 1) return callback === undefined ? super.connect() : this.#connectBy(callback)
    const connected = this.#connectToPrimary()
    if (callback === undefined) return connected
    connected.then(() => (callback as (error?: Error) => void)(), callback)
    return undefined
  }

  #connectBy(callback: (error: Error) => void): undefined {
    super.connect(callback)
  }

  async #connectToPrimary(): Promise<pg.Client> {
    try {
      const primary = primaries.get(this.#url) ?? (await findPrimary(this.#url))
      const { hostname, port } = new URL(primary)
      Object.assign(this, {
        host: decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1'),
        port: Number(port || 5432),
      })
      await super.connect()
      await refuseStandby(this)
      primaries.set(this.#url, primary)
      return this
    } catch (error) {
      forgetPrimary(this.#url)
      await super.end().catch(() => {})
      throw error
    }
  }
}

const askAgainMilliseconds = 250

/**
 * Returns the URL of the host that takes writes. All hosts are asked at once. While a host is silent, the others are asked again,
 * because a standby may have taken its place.
 * @throws the failure to connect to a host, or StandbyError when all hosts are standbys
 */
async function findPrimary(url: string): Promise<string> {
  const hosts = urlsOfHosts(url)
  const silent = new Set(hosts)
  const attempts = hosts.map(async (single) => {
    for (;;) {
      try {
        await assertTakesWrites(single)
        silent.clear()
        return single
      } catch (error) {
        silent.delete(single)
        if (silent.size === 0) throw error
        await sleep(askAgainMilliseconds)
      }
    }
  })
  return Promise.any(attempts).catch((error: AggregateError) => {
    throw error.errors.find((failure) => !(failure instanceof StandbyError)) ?? error.errors[0]
  })
}

/** @throws the failure to connect, or StandbyError */
export async function assertTakesWrites(url: string): Promise<void> {
  const client = new DatabaseClient({ connectionString: url, connectionTimeoutMillis: databaseConnectMilliseconds })
  client.on('error', () => {})
  try {
    await client.connect()
    await refuseStandby(client)
  } finally {
    await client.end().catch(() => {})
  }
}

async function refuseStandby(client: pg.ClientBase): Promise<void> {
  const question = { text: 'select pg_is_in_recovery() as standby', query_timeout: databaseConnectMilliseconds }
  const { rows } = await client.query<{ standby: boolean }>(question)
  if (rows[0]!.standby) throw new StandbyError()
}
