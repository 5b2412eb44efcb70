import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Logger } from 'pino'
import {
  changePollMilliseconds,
  changeProbeMilliseconds,
  changeReconnectMilliseconds,
  changeSignalMilliseconds,
  databaseConnectMilliseconds,
} from '../lib/limits.ts'
import type { Db } from './client.ts'
import { committedOn, type WakeableTask, type Woken } from './commits.ts'
import { DatabaseClient } from './database-client.ts'

/** Tells this node soon after a commit of any node that there may be changes. It is a hint without content. */
export type ChangeSignal = {
  /** Calls `wake` until the returned function is called. */
  watch(wake: () => void): () => void
  /** Calls `run` when a commit of any node wakes a task, until the returned function is called. */
  onWake(task: string, run: () => void): () => void
  /** Returns true while notifications arrive. Tasks then need not look for commits of other nodes. */
  isHeard(): boolean
  close(): Promise<void>
}

type Options = { url: string; db: Db; log: Pick<Logger, 'warn'> }

const channel = 'strongroom_changes'

/**
 * Creates the signal. A node notifies the others after its commits, at most once per `changeSignalMilliseconds`, in a
 * transaction of its own: a NOTIFY within a posting would make all commits of the database wait for each other. One connection
 * of the node listens while there is a watcher. A slow poll makes up for lost notifications and connections.
 *
 * A notification is the name of its node and the tasks that it wakes. This node wakes its own tasks without it.
 */
export function createChangeSignal({ url, db, log }: Options): ChangeSignal {
  const node = randomUUID()
  const watchers = new Set<() => void>()
  const tasks = new Map<string, () => void>()
  const wakeAll = () => watchers.forEach((wake) => void wake())
  const wakeTasks = (names: Iterable<string>) => {
    for (const name of names) tasks.get(name)?.()
  }
  const notifier = createNotifier(url, node)
  const listener = createListener(url, log, {
    heard(payload) {
      const [sender, ...names] = payload.split(' ')
      wakeAll()
      if (sender !== node) wakeTasks(names)
    },
    // Nobody on this node was notified of commits before the connection listened.
    listening() {
      wakeAll()
      wakeTasks(tasks.keys())
      notifier.notify([])
    },
  })
  const stopTelling = tellCommits(db, wakeTasks, (tasks) => {
    wakeAll()
    notifier.notify(tasks)
  })
  let poll: NodeJS.Timeout | undefined

  const isWanted = () => watchers.size + tasks.size > 0
  // The node's own notifications arrive too, so that a probe can test a listener that has heard nothing for long.
  const probe = setInterval(() => {
    if (tasks.size > 0 && !listener.heardWithin(changeProbeMilliseconds)) notifier.notify([])
  }, changeProbeMilliseconds)
  probe.unref()

  return {
    watch(wake) {
      if (!isWanted()) listener.open()
      if (watchers.size === 0) {
        poll = setInterval(wakeAll, changePollMilliseconds)
        poll.unref()
      }
      watchers.add(wake)
      return () => {
        watchers.delete(wake)
        if (watchers.size === 0) clearInterval(poll)
        if (!isWanted()) listener.close()
      }
    },
    onWake(task, run) {
      if (!isWanted()) listener.open()
      tasks.set(task, run)
      return () => {
        tasks.delete(task)
        if (!isWanted()) listener.close()
      }
    },
    isHeard: () => listener.heardWithin(3 * changeProbeMilliseconds),
    async close() {
      stopTelling()
      clearInterval(poll)
      clearInterval(probe)
      watchers.clear()
      tasks.clear()
      listener.close()
      await notifier.close()
    },
  }
}

/** Calls `now` with the tasks that a commit of this node wakes, and `soon` with the tasks of all commits of a short time. */
function tellCommits(db: Db, now: (tasks: Woken) => void, soon: (tasks: Woken) => void): () => void {
  let together = new Set<WakeableTask>()
  let pending: NodeJS.Timeout | undefined
  const stop = committedOn(db, (woken) => {
    now(woken)
    for (const task of woken) together.add(task)
    pending ??= setTimeout(() => {
      const tasks = together
      together = new Set()
      pending = undefined
      soon(tasks)
    }, changeSignalMilliseconds)
    pending.unref()
  })
  return () => {
    stop()
    clearTimeout(pending)
  }
}

/**
 * Creates a notifier with a connection of its own, which is opened at the first commit. A silent connection of the pool would
 * keep the node from stopping. A failure only costs time, because the other nodes poll.
 */
function createNotifier(url: string, node: string) {
  let client: pg.Client | null = null
  const wanted = new Set<string>()
  let isBusy = false
  let isWanted = false

  const drop = async () => {
    const closing = client
    client = null
    await closing?.end().catch(() => {})
  }
  const send = async () => {
    if (client === null) {
      const opened = new DatabaseClient({ ...connectionOf(url), query_timeout: databaseConnectMilliseconds })
      opened.on('error', () => void drop())
      client = opened
      await opened.connect()
    }
    const payload = [node, ...wanted].join(' ')
    wanted.clear()
    await client.query('select pg_notify($1, $2)', [channel, payload])
  }
  const notify = (tasks: Iterable<string>) => {
    for (const task of tasks) wanted.add(task)
    isWanted = true
    if (isBusy) return
    isBusy = true
    isWanted = false
    send()
      .catch(drop)
      .finally(() => {
        isBusy = false
        if (isWanted) notify([])
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

/** `heard` is called with each notification, and `listening` when the connection begins to listen. */
type Hearing = { heard(payload: string): void; listening(): void }

/** Keeps one connection listening between `open` and `close`, and replaces it when it ends. */
function createListener(url: string, log: Options['log'], { heard, listening }: Hearing) {
  let isOpen = false
  let heardAt: number | null = null
  let client: pg.Client | null = null
  let retry: NodeJS.Timeout | undefined
  /** A loss is logged once, not at each attempt to replace the connection. */
  let isLost = false

  const connect = async () => {
    const opened = new DatabaseClient(connectionOf(url))
    client = opened
    const lost = (error?: Error) => {
      if (client !== opened) return
      client = null
      heardAt = null
      if (!isOpen) return
      if (error !== undefined && !isLost) log.warn({ err: error }, 'the connection that listens for changes was lost')
      isLost ||= error !== undefined
      retry = setTimeout(() => void connect(), changeReconnectMilliseconds)
      retry.unref()
    }
    opened.on('notification', ({ payload = '' }) => {
      heardAt = Date.now()
      heard(payload)
    })
    opened.on('error', lost)
    opened.on('end', () => lost())
    try {
      await opened.connect()
      await opened.query(`listen ${channel}`)
      isLost = false
      listening()
    } catch (error) {
      lost(error as Error)
      await opened.end().catch(() => {})
    }
  }

  return {
    heardWithin: (milliseconds: number) => heardAt !== null && Date.now() - heardAt <= milliseconds,
    open() {
      isOpen = true
      if (client === null) void connect()
    },
    close() {
      isOpen = false
      clearTimeout(retry)
      const closing = client
      client = null
      heardAt = null
      closing?.end().catch(() => {})
    },
  }
}
