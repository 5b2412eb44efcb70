import { unavailable } from '../../lib/errors.ts'
import { addressCreationsWaitingMax } from '../../lib/limits.ts'

const tails = new Map<string, { tail: Promise<unknown>; waiting: number }>()

/**
 * Runs `work` after all earlier work of the same key in this process, so that concurrent creations do not fight for one
 * index. A matter of speed only: what keeps indexes unique and gap-free is the database.
 * @throws 503 when too many wait already
 */
export async function inTurn<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const queue = tails.get(key) ?? { tail: Promise.resolve(), waiting: 0 }
  if (queue.waiting >= addressCreationsWaitingMax) throw unavailable('Too many addresses are being created here', 5)
  tails.set(key, queue)
  queue.waiting += 1
  const result = queue.tail.then(work)
  queue.tail = result.catch(() => undefined)
  try {
    return await result
  } finally {
    queue.waiting -= 1
    if (queue.waiting === 0) tails.delete(key)
  }
}
