import { tooManyRequests, unavailable } from '../lib/errors.ts'
import type { Db } from './client.ts'

type Options = {
  /** Slow reads have their own connections, so that they never take one that a quick request waits for. */
  db: Db
  /** Reads that run at a time, of all callers and of one. */
  runningMax: number
  runningPerCallerMax: number
  /** Reads that wait, of all callers and of one, and for how long. */
  waitingMax: number
  waitingPerCallerMax: number
  waitMilliseconds: number
}

export type SlowReads = {
  db: Db
  /**
   * Runs `read` when it is the caller's turn. The waiting callers take turns, regardless of what they read.
   * @throws 429 when too many reads of the caller wait already, 503 when too many do in all or the turn does not come in time
   */
  inTurn<Result>(callerId: string, read: (db: Db) => Promise<Result>): Promise<Result>
}

type Waiting = { begin(): void }

/**
 * Reads that take the database seconds, such as reports, run in turns: a few at a time on this node. If one caller queues
 * a hundred of them, another caller waits for one of them only.
 */
export function createSlowReads(options: Options): SlowReads {
  const { db, runningMax, runningPerCallerMax, waitingMax, waitingPerCallerMax, waitMilliseconds } = options
  const running = new Map<string, number>()
  /** By caller; after a turn, the caller moves to the end. */
  const waiting = new Map<string, Waiting[]>()
  let runningInAll = 0
  let waitingInAll = 0

  const mayRun = (callerId: string) => runningInAll < runningMax && (running.get(callerId) ?? 0) < runningPerCallerMax

  const enter = (callerId: string) => {
    runningInAll += 1
    running.set(callerId, (running.get(callerId) ?? 0) + 1)
  }

  const leave = (callerId: string) => {
    runningInAll -= 1
    const left = running.get(callerId)! - 1
    if (left === 0) running.delete(callerId)
    else running.set(callerId, left)
    beginNext()
  }

  const beginNext = () => {
    for (const [callerId, queue] of waiting) {
      if (!mayRun(callerId)) continue
      const next = queue[0]!
      remove(callerId, next)
      const rest = waiting.get(callerId)
      if (rest !== undefined) {
        waiting.delete(callerId)
        waiting.set(callerId, rest)
      }
      enter(callerId)
      return next.begin()
    }
  }

  const remove = (callerId: string, one: Waiting) => {
    const queue = waiting.get(callerId)!
    queue.splice(queue.indexOf(one), 1)
    if (queue.length === 0) waiting.delete(callerId)
    waitingInAll -= 1
  }

  const turnOf = (callerId: string): Promise<void> => {
    const queue = waiting.get(callerId) ?? []
    if (queue.length >= waitingPerCallerMax) {
      throw tooManyRequests('too_many_at_once', 'Too many of your reports are waiting', retrySeconds)
    }
    if (waitingInAll >= waitingMax) throw tooMany()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        remove(callerId, one)
        reject(tooMany())
      }, waitMilliseconds)
      const one: Waiting = {
        begin: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      queue.push(one)
      waiting.set(callerId, queue)
      waitingInAll += 1
    })
  }

  return {
    db,
    async inTurn(callerId, read) {
      if (mayRun(callerId)) enter(callerId)
      else await turnOf(callerId)
      try {
        return await read(db)
      } finally {
        leave(callerId)
      }
    },
  }
}

const retrySeconds = 5
const tooMany = () => unavailable('overloaded', 'Too many reports are being made right now', retrySeconds)
