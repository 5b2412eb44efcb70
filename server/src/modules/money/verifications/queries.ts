import { sql } from 'kysely'
import { claimRows } from '../../../db/claim.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { LedgerVerifications } from '../../../db/types.ts'
import { exportLeaseSeconds, verificationAttemptsMax } from '../../../lib/limits.ts'
import type { VerificationState } from './schema.ts'

export type Finding = { check: string; message: string }
export type VerificationRow = RowOf<LedgerVerifications, { state: VerificationState; findings: Finding[] | null }>
/** One attempt to verify: every write for it carries its number. */
type Taken = Pick<VerificationRow, 'vault_id' | 'id' | 'attempt'>

export async function findVerification(db: Db | Trx, vaultId: string, id: string): Promise<VerificationRow | null> {
  const { rows } = await sql<VerificationRow>`
    select * from ledger_verifications where vault_id = ${vaultId} and id = ${id}`.execute(db)
  return rows[0] ?? null
}

/** The verification of the vault that is not finished; the database permits one. */
export async function findOpenVerification(db: Db | Trx, vaultId: string): Promise<VerificationRow | null> {
  const { rows } = await sql<VerificationRow>`
    select * from ledger_verifications where vault_id = ${vaultId} and state in ('queued', 'running')`.execute(db)
  return rows[0] ?? null
}

/** null when the vault has one that is not finished. */
export async function insertVerification(
  trx: Trx,
  { vaultId, id, requesterId, now }: { vaultId: string; id: string; requesterId: string; now: Date },
): Promise<VerificationRow | null> {
  const { rows } = await sql<VerificationRow>`
    insert into ledger_verifications (vault_id, id, requester_id, state, created_at)
    values (${vaultId}, ${id}, ${requesterId}, 'queued', ${now})
    on conflict (vault_id) where state in ('queued', 'running') do nothing returning *`.execute(trx)
  return rows[0] ?? null
}

/** Claims the verification that has waited longest: one that no node has, or whose node has not renewed its lease. */
export async function takeVerification(db: Db, now: Date): Promise<VerificationRow | null> {
  await sql`
    update ledger_verifications set state = 'failed', leased_until = null, finished_at = ${now},
      failure = 'The verification was begun several times and never completed'
    where state = 'running' and leased_until < ${now} and attempt >= ${verificationAttemptsMax}`.execute(db)
  const { rows } = await sql<VerificationRow>`
    with ${claimRows({
      table: 'ledger_verifications',
      key: ['vault_id', 'id'],
      where: sql`n.state = 'queued' or (n.state = 'running' and n.leased_until < ${now})`,
      orderBy: sql`n.created_at, n.id`,
      limit: 1,
      set: sql`state = 'running', attempt = n.attempt + 1, started_at = ${now}, leased_until = ${leaseFrom(now)}`,
    })}
    select * from claimed`.execute(db)
  return rows[0] ?? null
}

export async function renewVerification(db: Db, taken: Taken, now: Date): Promise<void> {
  await sql`update ledger_verifications set leased_until = ${leaseFrom(now)} where ${isOf(taken)}`.execute(db)
}

export async function finishVerification(db: Db, taken: Taken, findings: Finding[], now: Date): Promise<void> {
  await sql`
    update ledger_verifications set state = 'done', leased_until = null, finished_at = ${now},
      findings = ${JSON.stringify(findings)}
    where ${isOf(taken)}`.execute(db)
}

export async function failVerification(db: Db, taken: Taken, failure: string, now: Date): Promise<void> {
  await sql`
    update ledger_verifications set state = 'failed', leased_until = null, finished_at = ${now}, failure = ${failure}
    where ${isOf(taken)}`.execute(db)
}

/** Puts it back into the queue, to be made from the beginning. */
export async function releaseVerification(db: Db, taken: Taken): Promise<void> {
  await sql`
    update ledger_verifications set state = 'queued', leased_until = null, started_at = null where ${isOf(taken)}`.execute(
    db,
  )
}

const isOf = ({ vault_id, id, attempt }: Taken) =>
  sql`vault_id = ${vault_id} and id = ${id} and attempt = ${attempt} and state = 'running'`
const leaseFrom = (now: Date) => new Date(now.getTime() + exportLeaseSeconds * 1_000)
