import pg from 'pg'
import { checkOfGate, type WriteGate } from './write-gate.ts'

/** Thrown when the outcome of a commit is unknown: its connection was lost, or no standby has confirmed it. */
export class OutcomeUnknownError extends Error {
  constructor(cause: unknown) {
    super('The outcome of a commit is unknown', { cause })
    this.name = 'OutcomeUnknownError'
  }
}

/**
 * Makes a COMMIT without an answer fail with OutcomeUnknownError. The same happens to a statement whose wait for a standby was
 * cancelled: PostgreSQL reports success with a warning, although a failover loses it. The ROLLBACK that follows fails with the
 * same error, because its own failure on the lost connection would otherwise replace the error that the caller gets.
 *
 * A commit that no standby confirmed closes the gate, and the changes that follow fail before they begin.
 */
export function noteLostCommits(client: pg.PoolClient, gate: WriteGate): void {
  const checkGate = checkOfGate(gate)
  const query = client.query as (...parts: unknown[]) => unknown
  let lost: OutcomeUnknownError | null = null
  let isUnconfirmed = false
  client.on('notice', ({ routine }) => {
    isUnconfirmed ||= routine === waitForStandby
  })
  const assertConfirmed = (answer: unknown) => {
    if (!isUnconfirmed) return answer
    gate.close()
    lost = new OutcomeUnknownError(new Error('The wait for a standby was cancelled'))
    // The pool drops a connection that has ended.
    if (client instanceof pg.Client) void client.end().catch(() => {})
    throw lost
  }
  const queryNotingLoss = (...parts: unknown[]) => {
    if (parts[0] === 'rollback' && lost !== null) return Promise.reject(lost)
    try {
      checkGate(parts[0])
    } catch (error) {
      return Promise.reject(error)
    }
    const answered = query.apply(client, parts)
    if (!(answered instanceof Promise)) return answered
    if (parts[0] !== 'commit') return answered.then(assertConfirmed)
    return answered.then(assertConfirmed, (error: unknown) => {
      if (isRefusal(error)) throw error
      lost = new OutcomeUnknownError(error)
      throw lost
    })
  }
  client.query = queryNotingLoss as typeof client.query
}

/** The function of PostgreSQL whose warning says that the wait for a synchronous standby was cancelled. */
const waitForStandby = 'SyncRepWaitForLSN'

/** Returns true for an error of the statement itself. An error of a server that stops or fails may come after the commit. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P)/.test(error.code ?? '')
}
