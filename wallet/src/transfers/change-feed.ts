import type pg from 'pg'
import type { Logger } from 'pino'
import { DatabaseClient } from '../database/database-client.ts'
import { changeLookMilliseconds, changeReconnectMilliseconds, heldQuestionsMax } from '../limits.ts'

/** Wakes requests that wait for changes: after a commit of any process, and at intervals. */
export type ChangeFeed = {
  /** Returns a place for a waiting request of this client; null when too many requests wait. */
  hold(clientId: string): Held | null
  isClosed(): boolean
  /** Ends all waits, and allows no new wait. */
  close(): Promise<void>
}

/** A waiting request. It notes changes from its creation on, so that no change is missed between a read and the wait. */
export type Held = {
  /** Waits for a change of the client's transfers, for this number of milliseconds at most. */
  change(milliseconds: number): Promise<void>
  /** Returns true when the wait must end. */
  isOver(): boolean
  end(): void
}

type Waiting = { isWoken: boolean; isOver: boolean; wake(): void }

/** One connection listens while requests wait. Where notifications do not arrive, waiting requests read every few seconds. */
export function openChangeFeed(databaseUrl: string, log: Logger): ChangeFeed {
  const held = new Map<string, Set<Waiting>>()
  const listener = createListener(databaseUrl, log, (clientId) => {
    for (const [id, waiting] of held) if (clientId === null || clientId === id) for (const place of waiting) wake(place)
  })
  let isClosed = false

  return {
    hold(clientId) {
      const waiting = held.get(clientId) ?? new Set()
      if (isClosed || waiting.size >= heldQuestionsMax) return null
      listener.open()
      const place: Waiting = { isWoken: false, isOver: false, wake() {} }
      held.set(clientId, waiting.add(place))
      return {
        change: (milliseconds) => waitFor(place, Math.min(milliseconds, changeLookMilliseconds)),
        isOver: () => place.isOver,
        end() {
          waiting.delete(place)
          if (waiting.size === 0) held.delete(clientId)
          place.isOver = true
          wake(place)
        },
      }
    },
    isClosed: () => isClosed,
    async close() {
      isClosed = true
      for (const place of [...held.values()].flatMap((waiting) => [...waiting])) {
        place.isOver = true
        wake(place)
      }
      await listener.close()
    },
  }
}

function wake(place: Waiting): void {
  place.isWoken = true
  place.wake()
}

async function waitFor(place: Waiting, milliseconds: number): Promise<void> {
  if (!place.isWoken && !place.isOver) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      place.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
  place.isWoken = false
  place.wake = () => {}
}

/** @param heard called with the client whose transfer changed, or with null when changes may have been missed */
function createListener(databaseUrl: string, log: Logger, heard: (clientId: string | null) => void) {
  let client: pg.Client | null = null
  let retry: NodeJS.Timeout | undefined
  let isClosed = false

  const connect = async () => {
    const opened = new DatabaseClient({
      connectionString: databaseUrl,
      application_name: 'strongroom-wallet-changes',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    })
    client = opened
    const lost = (error?: Error) => {
      if (client !== opened || isClosed) return
      client = null
      if (error !== undefined) log.warn({ error: error.message }, 'the connection that listens for changes was lost')
      retry = setTimeout(() => {
        retry = undefined
        void connect()
      }, changeReconnectMilliseconds)
      retry.unref()
    }
    opened.on('notification', ({ payload }) => heard(payload ?? null))
    opened.on('error', lost)
    opened.on('end', () => lost())
    try {
      await opened.connect()
      await opened.query('listen wallet_changes')
      heard(null)
    } catch (error) {
      lost(error as Error)
      await opened.end().catch(() => {})
    }
  }

  return {
    open() {
      if (client === null && retry === undefined && !isClosed) void connect()
    },
    async close() {
      isClosed = true
      clearTimeout(retry)
      await client?.end().catch(() => {})
    },
  }
}
