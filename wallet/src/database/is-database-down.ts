import { UnconfirmedCommitError } from './unconfirmed-commit.ts'

/**
 * Returns true for an error that a later attempt may avoid: faults of the connection, an overdue answer, a commit that no standby
 * confirmed, a standby itself (25006), and PostgreSQL's classes 08 (connection), 53 (resources) and 57P (shutdown).
 */
export function isDatabaseDown(error: Error & { code?: unknown }): boolean {
  const { code, message } = error
  return (
    error instanceof UnconfirmedCommitError ||
    /^(08|25006|53|57P|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/.test(typeof code === 'string' ? code : '') ||
    /Connection terminated|Query read timeout|not queryable|timeout exceeded when trying to connect/.test(message)
  )
}
