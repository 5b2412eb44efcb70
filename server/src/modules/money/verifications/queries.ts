import { sql } from 'kysely'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import { leasedJobs } from '../../../db/leased-jobs.ts'
import type { LedgerVerifications } from '../../../db/types.ts'
import { exportLeaseSeconds, verificationAttemptsMax } from '../../../lib/limits.ts'
import type { VerificationState } from './schema.ts'

export type Finding = { check: string; message: string }
export type VerificationRow = RowOf<LedgerVerifications, { state: VerificationState; findings: Finding[] | null }>

export async function findVerification(db: Db | Trx, vaultId: string, id: string): Promise<VerificationRow | null> {
  const { rows } = await sql<VerificationRow>`
    select * from ledger_verifications where vault_id = ${vaultId} and id = ${id}`.execute(db)
  return rows[0] ?? null
}

/** Returns the unfinished verification of the vault; the database permits one. */
export async function findOpenVerification(db: Db | Trx, vaultId: string): Promise<VerificationRow | null> {
  const { rows } = await sql<VerificationRow>`
    select * from ledger_verifications where vault_id = ${vaultId} and state in ('queued', 'running')`.execute(db)
  return rows[0] ?? null
}

/** Returns null while the vault has an unfinished verification. */
export async function insertVerification(
  trx: Trx,
  { vaultId, id, requesterId, now }: { vaultId: string; id: string; requesterId: string; now: Date },
): Promise<VerificationRow | null> {
  wake(trx, 'verify-ledgers')
  const { rows } = await sql<VerificationRow>`
    insert into ledger_verifications (vault_id, id, requester_id, state, created_at)
    values (${vaultId}, ${id}, ${requesterId}, 'queued', ${now})
    on conflict (vault_id) where state in ('queued', 'running') do nothing returning *`.execute(trx)
  return rows[0] ?? null
}

export const verificationJobs = leasedJobs<VerificationRow>({
  table: 'ledger_verifications',
  noun: 'verification',
  attemptsMax: verificationAttemptsMax,
  leaseSeconds: exportLeaseSeconds,
})
