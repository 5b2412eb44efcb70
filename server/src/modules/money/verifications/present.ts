import type { VerificationRow } from './queries.ts'
import type { LedgerVerification } from './schema.ts'

export function toLedgerVerification(row: VerificationRow): LedgerVerification {
  return {
    id: row.id,
    status: row.state,
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    finishedAt: row.finished_at?.toISOString() ?? null,
    findings: row.findings,
    failure: row.failure,
  }
}
