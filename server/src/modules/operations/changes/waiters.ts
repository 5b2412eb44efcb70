import type { ChangeSignal } from '../../../db/change-signal.ts'
import type { Db } from '../../../db/client.ts'
import { tooManyRequests, unavailable } from '../../../lib/errors.ts'
import {
  changeReadsRunningMax,
  changeWaitersMax,
  changeWaitersPerCallerMax,
  changeWakeMilliseconds,
} from '../../../lib/limits.ts'
import { createTurns } from '../../../lib/turns.ts'
import { findChangedVaults } from './queries.ts'

/** A request that waits for changes. It holds no connection of the database while it waits. */
export type Waiter = {
  /** The vaults whose changes concern the request; null means all vaults. */
  vaultIds: Set<string> | null
  /** Resolves with true at a change that may concern the request, and with false when the time is over or the wait was ended. */
  next(until: number): Promise<boolean>
  /** Ends the wait for good, when the caller is gone. */
  end(): void
  leave(): void
}

export type Waiters = ReturnType<typeof createWaiters>

const retrySeconds = 5

/**
 * Creates the list of waiting requests of this node. A signal costs one short query for all of them, which finds the changed
 * vaults. Only requests of members of those vaults are woken.
 */
export function createWaiters(db: Db, signal: ChangeSignal) {
  const waiting = new Set<ReturnType<typeof createWaiter>>()
  const byCaller = new Map<string, number>()
  let unwatch: (() => void) | undefined
  let seen: string | null = null
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  const look = async () => {
    const { snapshot, vaultIds } = await findChangedVaults(db, seen)
    seen = snapshot
    for (const entry of waiting) {
      const { vaultIds: watchedIds } = entry.waiter
      if (
        vaultIds === null ||
        (vaultIds.length > 0 && watchedIds === null) ||
        vaultIds.some((id) => watchedIds?.has(id))
      )
        entry.wake()
    }
  }
  const onSignal = () => {
    timer ??= setTimeout(() => {
      look()
        // If the database does not answer, the next signal or poll asks again.
        .catch(() => {})
        .finally(() => {
          timer = undefined
        })
    }, changeWakeMilliseconds)
    timer.unref()
  }

  return {
    /** @throws 429 when the caller has too many waiting requests, 503 when the node has too many or stops */
    enter(callerId: string): Waiter {
      const ofCaller = byCaller.get(callerId) ?? 0
      if (ofCaller >= changeWaitersPerCallerMax)
        throw tooManyRequests('too_many_at_once', 'Too many of your requests wait for changes', retrySeconds)
      if (isStopped || waiting.size >= changeWaitersMax)
        throw unavailable('overloaded', 'Too many requests wait for changes here', retrySeconds)
      const entry = createWaiter(() => {
        if (!waiting.delete(entry)) return
        const left = byCaller.get(callerId)! - 1
        if (left === 0) byCaller.delete(callerId)
        else byCaller.set(callerId, left)
        if (waiting.size > 0) return
        unwatch?.()
        unwatch = undefined
        seen = null
      })
      waiting.add(entry)
      byCaller.set(callerId, ofCaller + 1)
      unwatch ??= signal.watch(onSignal)
      return entry.waiter
    },
    /** The number of requests that wait here. */
    size: () => waiting.size,
    /** Ends all waits, so that a node that stops answers them. */
    stop() {
      isStopped = true
      for (const entry of waiting) entry.waiter.end()
    },
    inTurn: createTurns(changeReadsRunningMax),
  }
}

function createWaiter(leave: () => void) {
  let isDue = false
  let isOver = false
  let resume: (() => void) | undefined
  const waiter: Waiter = {
    vaultIds: null,
    async next(until) {
      if (!isDue && !isOver && performance.now() < until) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, until - performance.now())
          resume = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      const wasDue = isDue
      isDue = false
      return wasDue && !isOver
    },
    end() {
      isOver = true
      resume?.()
    },
    leave,
  }
  const wake = () => {
    isDue = true
    resume?.()
  }
  return { waiter, wake }
}
