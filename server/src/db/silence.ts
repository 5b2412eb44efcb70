import pg from 'pg'
import {
  databaseAnswerMarginMilliseconds,
  databasePatienceMilliseconds,
  databaseProbeMilliseconds,
  standbyPatienceMilliseconds,
} from '../lib/limits.ts'
import { DatabaseClient, forgetPrimary, StandbyError } from './database-client.ts'

/** Thrown when the database does not answer. It may still execute the last statement. */
class DatabaseSilentError extends Error {
  readonly code = 'ETIMEDOUT'
  constructor() {
    super('The database does not answer')
    this.name = 'DatabaseSilentError'
  }
}

type Options = {
  url: string
  /** The time limit of PostgreSQL for a statement of this pool; 0 means no limit. */
  statementMilliseconds: number
  onError: (error: Error) => void
}

const tickMilliseconds = 500

/**
 * Ends the wait for a database that has stopped answering. Stopped processes and a cut network leave connections open and would
 * hold every request for as long as they last.
 *
 * A slow statement is not a silent database. So when an answer is overdue, a new connection is tried. If that gets no answer
 * either and no other connection received anything meanwhile, all connections are closed, and waiting and new requests fail at
 * once until a try succeeds. If only one connection is silent, it is closed once the time limit of PostgreSQL for its statement
 * has long passed.
 *
 * A commit that waits for a standby keeps its connection from reads. The try also cancels commits that have waited for long, and
 * `db/lost-commit.ts` takes their outcome for unknown.
 */
export function endSilence(pool: pg.Pool, { url, statementMilliseconds, onError }: Options): void {
  const watched = watch(pool)
  let isProbing = false

  const probe = async () => {
    isProbing = true
    const startedAt = performance.now()
    const late = [...watched.awaited].filter(([, since]) => since < startedAt - standbyPatienceMilliseconds)
    const answers = await answersNewConnection(
      url,
      late.map(([client]) => processOf(client)),
    )
    isProbing = false
    if (answers) {
      watched.isSilent = false
      return
    }
    if (watched.isSilent || watched.heardAt > startedAt) return
    watched.isSilent = true
    onError(new DatabaseSilentError())
    for (const client of watched.clients) close(watched, client)
    for (const { fail } of watched.connecting) fail(new DatabaseSilentError())
    watched.connecting.clear()
  }

  const timer = setInterval(() => {
    const now = performance.now()
    const overdue = now - databasePatienceMilliseconds
    const { awaited, connecting, isSilent } = watched
    if (statementMilliseconds > 0) {
      const lost = now - statementMilliseconds - databaseAnswerMarginMilliseconds
      for (const [client, since] of awaited) if (since < lost) close(watched, client)
    }
    if (isProbing) return
    const isOverdue =
      [...awaited.values()].some((since) => since < overdue) || [...connecting].some(({ since }) => since < overdue)
    if (isSilent || isOverdue) void probe()
  }, tickMilliseconds)
  timer.unref()
  const end = pool.end.bind(pool) as () => Promise<void>
  pool.end = (() => {
    clearInterval(timer)
    return end()
  }) as typeof pool.end
}

/** The observed state of the connections of a pool. */
type Watched = {
  /** The time since when an answer is awaited on a connection. Every received byte restarts the wait. */
  awaited: Map<pg.PoolClient, number>
  connecting: Set<{ since: number; fail: (error: Error) => void }>
  clients: Set<pg.PoolClient>
  heardAt: number
  /** While true, no connection is handed out. */
  isSilent: boolean
}

/** Records what is sent, received and requested on the connections of a pool. */
function watch(pool: pg.Pool): Watched {
  const watched: Watched = {
    awaited: new Map(),
    connecting: new Set(),
    clients: new Set(),
    heardAt: 0,
    isSilent: false,
  }
  const { awaited, connecting, clients } = watched
  pool.on('connect', (client) => {
    clients.add(client)
    const { query } = client
    client.query = ((...parts: unknown[]) => {
      awaited.set(client, performance.now())
      return (query as (...parameters: unknown[]) => unknown).apply(client, parts)
    }) as typeof client.query
    client.on('drain', () => awaited.delete(client))
    streamOf(client).on('data', () => {
      watched.heardAt = performance.now()
      if (awaited.has(client)) awaited.set(client, watched.heardAt)
    })
  })
  pool.on('remove', (client) => {
    clients.delete(client)
    awaited.delete(client)
  })

  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>
  const connectUnlessSilent = () =>
    new Promise<pg.PoolClient>((resolve, reject) => {
      if (watched.isSilent) return reject(new DatabaseSilentError())
      const attempt = { since: performance.now(), fail: reject }
      connecting.add(attempt)
      connect().then(
        (client) => (connecting.delete(attempt) ? resolve(client) : client.release()),
        (error: Error) => {
          connecting.delete(attempt)
          reject(error)
        },
      )
    })
  // There are two ways to request a connection: the promise of Kysely, and the callback of `pool.query`.
  pool.connect = ((callback?: (error: unknown, client?: pg.PoolClient, release?: unknown) => void) => {
    const connected = connectUnlessSilent()
    if (callback === undefined) return connected
    connected.then(
      (client) => callback(undefined, client, client.release),
      (error: unknown) => callback(error, undefined, () => {}),
    )
  }) as typeof pool.connect
  return watched
}

function close({ awaited }: Watched, client: pg.PoolClient): void {
  awaited.delete(client)
  streamOf(client).destroy(new DatabaseSilentError())
}

/**
 * Returns true if a new connection gets any answer from PostgreSQL, even a refusal. The time is counted in ticks, so that a
 * process that was busy for long reads received data before it gives up.
 * @param late the processes of connections whose commit is cancelled if it waits for a standby
 */
async function answersNewConnection(url: string, late: number[]): Promise<boolean> {
  const client = new DatabaseClient({ connectionString: url })
  client.on('error', () => {})
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<false>((resolve) => {
    let ticks = databaseProbeMilliseconds / tickMilliseconds
    timer = setInterval(() => {
      ticks -= 1
      if (ticks <= 0) resolve(false)
    }, tickMilliseconds)
  })
  const answer = client.connect().then(
    () => cancelWaits(client, late),
    (error: unknown) => isRefusal(error),
  )
  try {
    const answers = await Promise.race([answer, silence])
    if (!answers) forgetPrimary(url)
    return answers
  } finally {
    clearInterval(timer)
    streamOf(client).destroy()
  }
}

/** Returns true for an error that is an answer: of PostgreSQL, or of a host that refuses the connection because nothing listens. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError ||
    error instanceof StandbyError ||
    ['ECONNREFUSED', 'ECONNRESET'].includes((error as { code?: string }).code ?? '')
  )
}

async function cancelWaits(client: pg.Client, processes: number[]): Promise<true> {
  if (processes.length > 0) {
    const text = `select pg_cancel_backend(pid) from pg_stat_activity where pid = any($1::int[]) and wait_event = 'SyncRep'`
    await client.query(text, [processes]).catch(() => {})
  }
  return true
}

/** Returns the process of the server behind a connection. pg has it, and its types do not. */
function processOf(client: pg.ClientBase): number {
  return (client as unknown as { processID: number }).processID
}

/** Returns the socket of a connection. pg has no public name for it. */
function streamOf(client: pg.ClientBase): import('node:stream').Duplex {
  return (client as unknown as { connection: { stream: import('node:stream').Duplex } }).connection.stream
}
