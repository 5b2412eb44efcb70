import { sql } from 'kysely'
import { claimRows } from '../../../db/claim.ts'
import type { Db } from '../../../db/client.ts'
import { witnessLeaseMilliseconds } from '../../../lib/limits.ts'
import type { SignedVote } from '../../../lib/signed-vote.ts'

/** A signed veto or cancellation that must be sent to the wallet service of the vault. */
export type DueStop = { vaultId: string; subjectId: string; userId: string; decision: string; attempts: number }

/** Claims one stop that is due. Another node takes the next stop meanwhile. */
export async function claimStop(db: Db, now: Date): Promise<DueStop[]> {
  const leaseEnd = new Date(now.getTime() + witnessLeaseMilliseconds)
  const { rows } = await sql<DueStop>`
    with ${claimRows({
      table: 'stops_due',
      key: ['vault_id', 'subject_id', 'user_id', 'decision'],
      where: sql`n.next_attempt_at <= ${now}`,
      orderBy: sql`n.next_attempt_at`,
      limit: 1,
      set: sql`attempts = n.attempts + 1, next_attempt_at = ${leaseEnd}`,
    })}
    select vault_id as "vaultId", subject_id as "subjectId", user_id as "userId", decision, attempts from claimed`.execute(
    db,
  )
  return rows
}

export async function readStop(db: Db, { vaultId, subjectId, userId, decision }: DueStop): Promise<SignedVote> {
  const { signed_vote } = await db
    .selectFrom('signed_votes')
    .select('signed_vote')
    .where('vault_id', '=', vaultId)
    .where('subject_id', '=', subjectId)
    .where('user_id', '=', userId)
    .where('decision', '=', decision)
    .executeTakeFirstOrThrow()
  return signed_vote as SignedVote
}

const isStop = ({ vaultId, subjectId, userId, decision }: DueStop) =>
  sql<boolean>`vault_id = ${vaultId} and subject_id = ${subjectId} and user_id = ${userId} and decision = ${decision}`

export async function endStop(db: Db, stop: DueStop): Promise<void> {
  await sql`delete from stops_due where ${isStop(stop)}`.execute(db)
}

export async function retryStop(db: Db, stop: DueStop, at: Date): Promise<void> {
  await sql`update stops_due set next_attempt_at = ${at} where ${isStop(stop)} and attempts = ${stop.attempts}`.execute(
    db,
  )
}
