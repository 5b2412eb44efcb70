import type pg from 'pg'
import { transactionAttemptsMax } from '../lib/limits.ts'

/**
 * Repeats a statement that PostgreSQL has ended because of a deadlock, if it is a transaction of its own: it had no effect. Reads
 * meet deadlocks while a migration changes tables. Statements of a longer transaction are repeated with it (`inTransaction`).
 */
export function repeatVictims(client: pg.PoolClient): void {
  const { query } = client
  const send = (parts: unknown[]) => (query as (...parameters: unknown[]) => unknown).apply(client, parts)
  const queryUntilDone = (...parts: unknown[]) => {
    const isAlone = client.getTransactionStatus() === 'I'
    const answered = send(parts)
    if (!isAlone || !(answered instanceof Promise)) return answered
    return repeat(answered, () => send(parts))
  }
  client.query = queryUntilDone as typeof client.query
}

async function repeat(first: Promise<unknown>, again: () => unknown): Promise<unknown> {
  let answered: unknown = first
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await answered
    } catch (error) {
      if (attempt >= transactionAttemptsMax || !isVictim(error)) throw error
      await restBefore(attempt)
      answered = again()
    }
  }
}

/** Returns true if PostgreSQL ended the statement because of a deadlock: 40P01. */
function isVictim(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '40P01'
}

/** Waits before work is repeated for the nth time, for longer each time, so that transactions that collided do not collide again. */
export async function restBefore(attempt: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 2 ** attempt * 5 * Math.random()))
}
