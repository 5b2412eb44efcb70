import pg from 'pg'
import type { Logger } from 'pino'
import {
  changePollMilliseconds,
  changeReconnectMilliseconds,
  changeSignalMilliseconds,
  databaseConnectMilliseconds,
} from '../lib/limits.ts'
import type { Db } from './client.ts'
import { committedOn } from './commits.ts'

/** Tells this node soon that some node may have committed something. It is a hint: it says neither what nor whether. */
export type ChangeSignal = {
  /** Calls `wake` until the returned function is called. */
  watch(wake: () => void): () => void
  close(): Promise<void>
}

type Options = { url: string; db: Db; log: Pick<Logger, 'warn'> }

const channel = 'strongroom_changes'

/**
 * A node notifies the others after its commits, at most once per `changeSignalMilliseconds`, in a transaction of its own:
 * a NOTIFY within a posting would make all commits of the database wait for each other. One connection of the node
 * listens, while anybody watches. Whatever gets lost, such as that connection, is made up for by a slow poll.
 */
export function createChangeSignal({ url, db, log }: Options): ChangeSignal {
  const watchers = new Set<() => void>()
  const wakeAll = () => {
    for (const wake of watchers) wake()
  }
  const listener = createListener(url, wakeAll, log)
  const notifier = createNotifier(url)
  let poll: NodeJS.Timeout | undefined
  let pending: NodeJS.Timeout | undefined

  const stopNoting = committedOn(db, () => {
    pending ??= setTimeout(() => {
      pending = undefined
      wakeAll()
      notifier.notify()
    }, changeSignalMilliseconds)
    pending.unref()
  })

  return {
    watch(wake) {
      if (watchers.size === 0) {
        listener.open()
        poll = setInterval(wakeAll, changePollMilliseconds)
        poll.unref()
      }
      watchers.add(wake)
      return () => {
        watchers.delete(wake)
        if (watchers.size > 0) return
        clearInterval(poll)
        listener.close()
      }
    },
    async close() {
      stopNoting()
      clearTimeout(pending)
      clearInterval(poll)
      watchers.clear()
      listener.close()
      await notifier.close()
    },
  }
}

/**
 * Notifies over a connection of its own, which is opened with the first commit: one of the pool that falls silent in between
 * would keep the node from stopping. A failure costs time only, because the other nodes poll.
 */
function createNotifier(url: string) {
  let client: pg.Client | null = null
  let isBusy = false
  let isWanted = false

  const drop = async () => {
    const own = client
    client = null
    await own?.end().catch(() => {})
  }
  const send = async () => {
    if (client === null) {
      const own = new pg.Client({ ...connectionOf(url), query_timeout: databaseConnectMilliseconds })
      own.on('error', () => void drop())
      client = own
      await own.connect()
    }
    await client.query('select pg_notify($1, $2)', [channel, ''])
  }
  const notify = () => {
    isWanted = true
    if (isBusy) return
    isBusy = true
    isWanted = false
    send()
      .catch(drop)
      .finally(() => {
        isBusy = false
        if (isWanted) notify()
      })
  }
  return {
    notify,
    async close() {
      isBusy = true
      await drop()
    },
  }
}

const connectionOf = (url: string) => ({
  connectionString: url,
  application_name: 'strongroom-changes',
  options: '-c role=strongroom_app',
  connectionTimeoutMillis: databaseConnectMilliseconds,
  keepAlive: true,
})

/** Keeps one connection listening between `open` and `close`, and replaces it when it ends. */
function createListener(url: string, wake: () => void, log: Options['log']) {
  let isOpen = false
  let client: pg.Client | null = null
  let retry: NodeJS.Timeout | undefined

  const connect = async () => {
    const own = new pg.Client(connectionOf(url))
    client = own
    const lost = (error?: Error) => {
      if (client !== own) return
      client = null
      if (!isOpen) return
      if (error !== undefined) log.warn({ err: error }, 'the connection that listens for changes was lost')
      retry = setTimeout(() => void connect(), changeReconnectMilliseconds)
      retry.unref()
    }
    own.on('notification', wake)
    own.on('error', lost)
    own.on('end', () => lost())
    try {
      await own.connect()
      await own.query(`listen ${channel}`)
      // What was notified before it listened.
      wake()
    } catch (error) {
      lost(error as Error)
      await own.end().catch(() => {})
    }
  }

  return {
    open() {
      isOpen = true
      if (client === null) void connect()
    },
    close() {
      isOpen = false
      clearTimeout(retry)
      const own = client
      client = null
      own?.end().catch(() => {})
    },
  }
}
