import type pg from 'pg'

/** Thrown for a commit that no standby has confirmed. Its effects are on this server, and a failover may lose them. */
export class UnconfirmedCommitError extends Error {
  constructor() {
    super('The wait of a commit for a standby was cancelled')
    this.name = 'UnconfirmedCommitError'
  }
}

/** The function of PostgreSQL that warns when the wait for a synchronous standby was cancelled. */
const waitForStandby = 'SyncRepWaitForLSN'

/**
 * Makes a statement fail with UnconfirmedCommitError when PostgreSQL reports success with the warning that no standby has
 * confirmed its commit. Every later statement of the connection fails, too, so that the pool closes it.
 */
export function refuseUnconfirmedCommits(client: pg.PoolClient): void {
  const query = client.query as (...parts: unknown[]) => unknown
  let isUnconfirmed = false
  client.on('notice', ({ routine }) => {
    isUnconfirmed ||= routine === waitForStandby
  })
  const assertConfirmed = <T>(answer: T): T => {
    if (isUnconfirmed) throw new UnconfirmedCommitError()
    return answer
  }
  const queryConfirmed = (...parts: unknown[]) => {
    const callback = parts.at(-1)
    if (typeof callback !== 'function') {
      const answered = query.apply(client, parts)
      return answered instanceof Promise ? answered.then(assertConfirmed) : answered
    }
    // `pool.query` calls the client this way.
    const tell = (error: unknown, answer: unknown) =>
      callback(error ?? (isUnconfirmed ? new UnconfirmedCommitError() : null), answer)
    return query.apply(client, [...parts.slice(0, -1), tell])
  }
  client.query = queryConfirmed as typeof client.query
}
