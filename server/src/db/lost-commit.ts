import pg from 'pg'

/** The connection was lost during a commit: whether the transaction was committed is unknown. */
export class OutcomeUnknownError extends Error {
  constructor(cause: unknown) {
    super('The connection to the database was lost during a commit', { cause })
    this.name = 'OutcomeUnknownError'
  }
}

/**
 * Makes a COMMIT without an answer fail with OutcomeUnknownError. The ROLLBACK that follows fails with it as well, because
 * its own failure on the lost connection would otherwise replace the error that the caller gets.
 */
export function noteLostCommits(client: pg.PoolClient): void {
  const query = client.query as (...parts: unknown[]) => unknown
  let lost: OutcomeUnknownError | null = null
  const queryNotingLoss = (...parts: unknown[]) => {
    if (parts[0] === 'rollback' && lost !== null) return Promise.reject(lost)
    if (parts[0] !== 'commit') return query.apply(client, parts)
    return (query.apply(client, parts) as Promise<unknown>).catch((error: unknown) => {
      if (isRefusal(error)) throw error
      lost = new OutcomeUnknownError(error)
      throw lost
    })
  }
  client.query = queryNotingLoss as typeof client.query
}

/** An error of the statement itself. An error of a server that stops or fails may come after the commit. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P)/.test(error.code ?? '')
}
