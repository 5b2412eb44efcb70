import { sql } from 'kysely'
import type { Trx } from '../../db/client.ts'
import { conflict, forbidden } from '../../lib/errors.ts'

export type Vote = {
  vaultId: string
  subjectId: string
  userId: string
  decision: 'approve' | 'reject'
  comment: string | null
  now: Date
}

/**
 * Records one vote. The caller holds the lock on the subject, so that two votes never miss each other in the tally.
 *
 * @throws 403 when the voter is not in the snapshot or has left what put them there; 409 for a second vote
 */
export async function castVote(trx: Trx, vote: Vote): Promise<void> {
  const { rows } = await sql<{ decision: string | null; entitled: boolean }>`
    select v.decision, exists (
      select from entitled_voters e
      where e.vault_id = v.vault_id and e.subject_id = v.subject_id and e.user_id = v.user_id) as entitled
    from approval_voters v
    where v.vault_id = ${vote.vaultId} and v.subject_id = ${vote.subjectId} and v.user_id = ${vote.userId}`.execute(trx)
  const voter = rows[0]
  if (voter === undefined) throw forbidden('You are not an approver of this request')
  if (voter.decision !== null) throw conflict('You have voted already')
  if (!voter.entitled) throw forbidden('You are no longer a member of what made you an approver of this request')
  await trx
    .updateTable('approval_voters')
    .set({ decision: vote.decision, comment: vote.comment, voted_at: vote.now })
    .where('vault_id', '=', vote.vaultId)
    .where('subject_id', '=', vote.subjectId)
    .where('user_id', '=', vote.userId)
    .where('decision', 'is', null)
    .execute()
}
