import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { urlsOfHosts } from './hosts.ts'

/** A standby answers, and takes no writes. The code is that of PostgreSQL for a write in such a session. */
class StandbyError extends Error {
  readonly code = '25006'
  constructor() {
    super('the database is a standby, which takes no writes')
  }
}

/** The URL of the host that took writes last, by the URL with all hosts. */
const primaries = new Map<string, string>()
const connectMilliseconds = 5_000

/**
 * A connection to the host that takes writes, if its URL names several hosts; with one host, a plain connection. After a failed
 * attempt, the next attempt asks all hosts.
 */
export class DatabaseClient extends pg.Client {
  readonly #url: string

  constructor(config: pg.ClientConfig & { connectionString: string }) {
    super({ ...config, connectionString: urlsOfHosts(config.connectionString)[0]! })
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
      primaries.delete(this.#url)
      await super.end().catch(() => {})
      throw error
    }
  }
}

const askAgainMilliseconds = 250

/**
 * Asks all hosts at once. While a host is silent, the others are asked again, because a standby may take its place meanwhile.
 * @throws the failure to reach a host, or StandbyError when all hosts are standbys
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

async function assertTakesWrites(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectMilliseconds })
  client.on('error', () => {})
  try {
    await client.connect()
    await refuseStandby(client)
  } finally {
    await client.end().catch(() => {})
  }
}

async function refuseStandby(client: pg.Client): Promise<void> {
  const question = { text: 'select pg_is_in_recovery() as standby', query_timeout: connectMilliseconds }
  const { rows } = await client.query<{ standby: boolean }>(question)
  if (rows[0]!.standby) throw new StandbyError()
}
