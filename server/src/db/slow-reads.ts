import { AppError, tooManyRequests, unavailable } from '../lib/errors.ts'
import {
  slowConnectionsMax,
  slowReadsRunningMax,
  slowReadsRunningPerCallerMax,
  slowReadsWaitingMax,
  slowReadsWaitingPerCallerMax,
  slowReadWaitMilliseconds,
  slowStatementMilliseconds,
} from '../lib/limits.ts'
import type { RecordKey } from '../lib/record-key.ts'
import { type Db, openDatabase } from './client.ts'
import { useRecordKey } from './record-key.ts'
import { createReplica, type Replica, type Warn } from './replica.ts'

type Limits = {
  /** The maximum number of running reads, of all callers and of one caller. */
  runningMax: number
  runningPerCallerMax: number
  /** The maximum number of waiting reads, of all callers and of one caller, and the maximum time of a wait. */
  waitingMax: number
  waitingPerCallerMax: number
  waitMilliseconds: number
}

export type SlowReads = {
  db: Db
  /**
   * Runs `read` when it is the caller's turn. Waiting callers take turns, independent of what they read.
   * @throws 429 when too many reads of the caller wait already, 503 when too many do in all or the turn does not come in time
   */
  inTurn<Result>(callerId: string, read: (db: Db) => Promise<Result>): Promise<Result>
  /** Returns connections to the replica once it has all present commits; without such a replica, `db`. */
  forReports(): Promise<Db>
  /**
   * Runs `read` on the connections of `forReports`, and again on `db` if the replica fails meanwhile. An AppError is not such a
   * failure.
   */
  onReplica<Result>(read: (db: Db) => Promise<Result>): Promise<Result>
}

type OpenOptions = {
  url: string
  replicaUrl: string | null
  connectionsMax?: number
  recordKey: RecordKey | null
  warn: Warn
}

/** Opens the connections for slow reads, to the database and to its replica if there is one. */
export function openSlowReads({ url, replicaUrl, recordKey, warn, connectionsMax = slowConnectionsMax }: OpenOptions): {
  slowReads: SlowReads
  close: () => Promise<void>
} {
  const onError = (error: Error) => warn(error, 'database connection lost')
  const open = (to: string) => {
    const { db } = openDatabase({ url: to, connectionsMax, statementMilliseconds: slowStatementMilliseconds, onError })
    useRecordKey(db, recordKey)
    return db
  }
  const db = open(url)
  const replicaDb = replicaUrl === null ? null : open(replicaUrl)
  const slowReads = createSlowReads({
    db,
    replica: replicaDb === null ? null : createReplica({ primary: db, replica: replicaDb, warn }),
    runningMax: slowReadsRunningMax,
    runningPerCallerMax: slowReadsRunningPerCallerMax,
    waitingMax: slowReadsWaitingMax,
    waitingPerCallerMax: slowReadsWaitingPerCallerMax,
    waitMilliseconds: slowReadWaitMilliseconds,
  })
  return { slowReads, close: async () => void (await Promise.all([db.destroy(), replicaDb?.destroy()])) }
}

/**
 * Creates the turns for reads that take the database seconds, such as reports: a few run at a time on this node. If one caller
 * queues a hundred reads, another caller waits for only one of them.
 *
 * @param db separate connections, so that slow reads never take a connection for which a quick request waits
 */
export function createSlowReads({
  db,
  replica = null,
  ...limits
}: Limits & { db: Db; replica?: Replica | null }): SlowReads {
  const turns = new Turns(limits)
  const forReports = async () => (await replica?.whenCaughtUp()) ?? db
  return {
    db,
    forReports,
    async onReplica(read) {
      const source = await forReports()
      try {
        return await read(source)
      } catch (error) {
        if (source === db || error instanceof AppError) throw error
        replica!.warn(error, 'a read of the replica failed, and was made again by the database itself')
        return await read(db)
      }
    },
    async inTurn(callerId, read) {
      await turns.enter(callerId)
      try {
        return await read(db)
      } finally {
        turns.leave(callerId)
      }
    },
  }
}

class Turns {
  readonly #limits: Limits
  readonly #running = new Map<string, number>()
  /** The functions that start waiting reads, by caller. After a turn, the caller moves to the end. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #runningInAll = 0
  #waitingInAll = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Resolves when it is the caller's turn. @throws 429, 503 */
  async enter(callerId: string): Promise<void> {
    if (this.#mayRun(callerId)) return this.#run(callerId)
    const queue = this.#waiting.get(callerId) ?? []
    if (queue.length >= this.#limits.waitingPerCallerMax) {
      throw tooManyRequests('too_many_at_once', 'Too many of your reports are waiting', retrySeconds)
    }
    if (this.#waitingInAll >= this.#limits.waitingMax) throw tooMany()
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#remove(callerId, begin)
        reject(tooMany())
      }, this.#limits.waitMilliseconds)
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      queue.push(begin)
      this.#waiting.set(callerId, queue)
      this.#waitingInAll += 1
    })
  }

  leave(callerId: string): void {
    this.#runningInAll -= 1
    const left = this.#running.get(callerId)! - 1
    if (left === 0) this.#running.delete(callerId)
    else this.#running.set(callerId, left)
    this.#beginNext()
  }

  #mayRun(callerId: string): boolean {
    const { runningMax, runningPerCallerMax } = this.#limits
    return this.#runningInAll < runningMax && (this.#running.get(callerId) ?? 0) < runningPerCallerMax
  }

  #run(callerId: string): void {
    this.#runningInAll += 1
    this.#running.set(callerId, (this.#running.get(callerId) ?? 0) + 1)
  }

  #beginNext(): void {
    for (const [callerId, queue] of this.#waiting) {
      if (!this.#mayRun(callerId)) continue
      const begin = queue[0]!
      this.#waiting.delete(callerId)
      this.#waiting.set(callerId, queue)
      this.#remove(callerId, begin)
      this.#run(callerId)
      begin()
      return
    }
  }

  #remove(callerId: string, begin: () => void): void {
    const queue = this.#waiting.get(callerId)!
    queue.splice(queue.indexOf(begin), 1)
    if (queue.length === 0) this.#waiting.delete(callerId)
    this.#waitingInAll -= 1
  }
}

const retrySeconds = 5
const tooMany = () => unavailable('overloaded', 'Too many reports are being made right now', retrySeconds)
