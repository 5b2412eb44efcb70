import { sql } from 'kysely'
import { prepared, type Trx } from '../../../db/client.ts'
import { conflict, forbidden } from '../../../lib/errors.ts'

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
  const { rows } = await sql<{ decision: string | null; entitled: boolean }>`${prepared}
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
    .modifyEnd(prepared)
    .execute()
}

/**
 * Writes down, when a subject is resolved, whose entitlement held at that moment: what counted then shall not change
 * with who leaves later.
 */
export async function settleEntitlements(trx: Trx, vaultId: string, subjectId: string): Promise<void> {
  await sql`${prepared}
    update approval_eligibilities e set held = exists (
      select from entitled_voters n
      where n.vault_id = e.vault_id and n.subject_id = e.subject_id and n.user_id = e.user_id
        and n.step_index = e.step_index and n.policy_id = e.policy_id and n.group_id = e.group_id)
    where e.vault_id = ${vaultId} and e.subject_id = ${subjectId} and e.held is null`.execute(trx)
}
