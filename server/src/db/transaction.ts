import { sql } from 'kysely'
import { transactionAttemptsMax } from '../lib/limits.ts'
import type { Db, Trx } from './client.ts'
import { collectWoken, noteCommit, type Woken } from './commits.ts'
import { restBefore } from './repeat-victim.ts'

/**
 * Runs `work` in one transaction and repeats it, a bounded number of times, when PostgreSQL demands it: 40001 serialization
 * failure, 40P01 deadlock. `work` must have no effect outside the transaction.
 */
export async function inTransaction<Result>(db: Db, work: (trx: Trx) => Promise<Result>): Promise<Result> {
  let woken: Woken = new Set()
  const result = await repeat(() =>
    db.transaction().execute((trx) => {
      woken = collectWoken(trx)
      return work(trx)
    }),
  )
  noteCommit(db, woken)
  return result
}

async function repeat<Result>(attemptIt: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptIt()
    } catch (error) {
      if (attempt >= transactionAttemptsMax || !isRetryable(error)) throw error
      await restBefore(attempt)
    }
  }
}

function isRetryable(error: unknown): boolean {
  const code = sqlStateOf(error)
  return code === '40001' || code === '40P01'
}

/** Returns the SQLSTATE of a PostgreSQL error, or null. */
export function sqlStateOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null
}

/** Returns true if the error is a violation of the named unique or check constraint. */
export function violates(error: unknown, constraint: string): boolean {
  return (
    (error as { constraint?: unknown } | null)?.constraint === constraint &&
    sqlStateOf(error)?.startsWith('23') === true
  )
}

/** Returns a handler for `catch`: a violation of the named constraint becomes the refusal; any other error is thrown unchanged. */
export function onViolation(constraint: string, refusal: () => Error): (error: unknown) => never {
  return (error) => {
    throw violates(error, constraint) ? refusal() : error
  }
}

/**
 * Runs `read` in one read-only snapshot of the database, and repeats it like a transaction. It must have no effect but its result.
 */
export function readSnapshot<Result>(db: Db, read: (trx: Trx) => Promise<Result>): Promise<Result> {
  return repeat(() => holdSnapshot(db, read))
}

/** Runs `use` once in one read-only snapshot of the database, for rows that leave the service while they are read. */
export function holdSnapshot<Result>(db: Db, use: (trx: Trx) => Promise<Result>): Promise<Result> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(use)
}

/**
 * Runs `read` in a transaction that stays usable when `read` fails, for rows that may not be readable. A failure is the parameter of
 * `otherwise`. A conflict is thrown instead, because the transaction is repeated.
 */
export async function readOr<Result>(
  trx: Trx,
  read: () => Promise<Result>,
  otherwise: (error: unknown) => Result | Promise<Result>,
): Promise<Result> {
  await sql`savepoint reading`.execute(trx)
  try {
    const result = await read()
    await sql`release savepoint reading`.execute(trx)
    return result
  } catch (error) {
    if (isRetryable(error)) throw error
    await sql`rollback to savepoint reading`.execute(trx)
    return otherwise(error)
  }
}
