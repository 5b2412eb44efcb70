import { AppError, unavailable } from '../../../lib/errors.ts'
import {
  addressCreationMilliseconds,
  addressCreationsWaitingMax,
  addressTurnWaitMilliseconds,
} from '../../../lib/limits.ts'
import { isSilence } from '../../registry/wallet-service/call.ts'

type Waiter = { begin(): void; refuse(error: AppError): void }

/** The waiting creations of each key, behind the running creation. */
const queues = new Map<string, Waiter[]>()

/**
 * Runs `work` after all earlier work of the same key in this process, so that concurrent creations do not compete for
 * one index. This only saves time: the database keeps indexes unique and gap-free.
 *
 * The wait has a time limit, and `deadline` limits the wait and the work together. When the wallet service gives no
 * answer, all waiting creations are refused at once, because each of them would time out as well.
 * @throws 503 when too many creations already wait, or when the turn does not come in time
 */
export async function inTurn<Result>(key: string, work: (deadline: AbortSignal) => Promise<Result>): Promise<Result> {
  const startedAt = performance.now()
  const queue = queues.get(key) ?? []
  if (queues.has(key)) await turnIn(queue)
  else queues.set(key, queue)
  try {
    return await work(AbortSignal.timeout(Math.ceil(addressCreationMilliseconds - (performance.now() - startedAt))))
  } catch (error) {
    // The caller gets a 502, whose cause is the error of the wallet service.
    if (error instanceof AppError && isSilence(error.cause))
      for (const waiter of queue.splice(0)) waiter.refuse(silentWallet())
    throw error
  } finally {
    const next = queue.shift()
    if (next === undefined) queues.delete(key)
    else next.begin()
  }
}

function turnIn(queue: Waiter[]): Promise<void> {
  if (queue.length >= addressCreationsWaitingMax) throw tooMany()
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(waiter), 1)
      reject(tooMany())
    }, addressTurnWaitMilliseconds)
    const waiter: Waiter = {
      begin: () => {
        clearTimeout(timer)
        resolve()
      },
      refuse: (error) => {
        clearTimeout(timer)
        reject(error)
      },
    }
    queue.push(waiter)
  })
}

const retrySeconds = 5
const tooMany = () =>
  unavailable('overloaded', 'Too many addresses of this path are being created at the moment', retrySeconds)
const silentWallet = () =>
  unavailable('wallet_service_silent', 'The wallet service does not answer right now', retrySeconds)
