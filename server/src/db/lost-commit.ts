import pg from 'pg'

/** The connection was lost while PostgreSQL was told to commit: whether it did is not known. */
export class OutcomeUnknownError extends Error {
  constructor(cause: unknown) {
    super('The connection to the database was lost during a commit', { cause })
    this.name = 'OutcomeUnknownError'
  }
}

/**
 * Makes a COMMIT whose answer never came fail as OutcomeUnknownError. So does the ROLLBACK that follows it, whose own
 * failure on the lost connection would otherwise be all that the caller hears of.
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

/** An error of the statement itself. That of a server that is stopping or failing may come after the commit. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P)/.test(error.code ?? '')
}
