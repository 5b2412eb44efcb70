import { sql } from 'kysely'
import { byMember, type Member } from '../../../access/caller.ts'
import { prepared, type Trx } from '../../../db/client.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { conflict, forbidden } from '../../../lib/errors.ts'
import { audit } from '../../record/audit/record.ts'
import { notifyInitiator } from '../../record/notifications/write.ts'
import { listRequirements } from './queries.ts'
import { lockVisible, type SubjectRow, stopUnlessAsRecorded, type VotableSubject } from './subject.ts'
import { isApproved } from './tally.ts'

export type Decision = 'approve' | 'reject'
export type Ballot = { member: Member; id: string; comment: string | null; now: Date }

/**
 * Casts one vote on a subject. One rejection ends it. The last required approval continues it, after a new check of
 * everything that may have changed; that check can only restrict. A refusal is committed.
 *
 * @throws 403 for a member who has no vote, 404, 409 when it takes no votes or must not continue
 */
export async function voteOn<Row extends SubjectRow, Stored, Recorded>(
  trx: Trx,
  subject: VotableSubject<Row, Stored, Recorded>,
  decision: Decision,
  ballot: Ballot,
): Promise<Refusal | null> {
  const { member, id, comment, now } = ballot
  const row = await lockVisible(trx, subject, member, id)
  subject.assertOpen(row, now)
  const compared = await stopUnlessAsRecorded(trx, subject, row, now)
  if ('refusal' in compared) return compared

  await castVote(trx, decision, ballot)
  const { action, details } = subject.toVoteRecord(decision)
  const payloadHash = row.payload_hash.toString('hex')
  await audit(trx, byMember(ballot), action, { type: subject.type, id }, { ...details, comment, payloadHash })
  if (decision === 'reject') {
    await subject.onRejected(trx, row, { member, now })
    return null
  }
  // The requirements and votes in the tables equal those of the audit records, which was just verified.
  const requirements = await listRequirements(trx, member.vault.id, id)
  if (!isApproved(requirements)) return null
  return subject.onApproved(trx, row, { member, now, recorded: compared.recorded, requirements })
}

/**
 * The subject is locked, so that two votes never miss each other in the tally.
 * @throws 403 when the voter is not in the snapshot or is no longer entitled; 409 for a second vote
 */
async function castVote(trx: Trx, decision: Decision, { member, id, comment, now }: Ballot): Promise<void> {
  const vaultId = member.vault.id
  const { rows } = await sql<{ decision: string | null; entitled: boolean }>`${prepared}
    select v.decision, exists (
      select from entitled_voters e
      where e.vault_id = v.vault_id and e.subject_id = v.subject_id and e.user_id = v.user_id) as entitled
    from approval_voters v
    where v.vault_id = ${vaultId} and v.subject_id = ${id} and v.user_id = ${member.userId}`.execute(trx)
  const voter = rows[0]
  if (voter === undefined) throw forbidden('You are not an approver of this request')
  if (voter.decision !== null) throw conflict('You have voted already')
  if (!voter.entitled)
    throw forbidden('You are no longer a member of the group that made you an approver of this request')
  await trx
    .updateTable('approval_voters')
    .set({ decision, comment, voted_at: now })
    .where('vault_id', '=', vaultId)
    .where('subject_id', '=', id)
    .where('user_id', '=', member.userId)
    .where('decision', 'is', null)
    .modifyEnd(prepared)
    .execute()
}

/**
 * Closes the voting on a subject: stores which voters are entitled at that time, so that later changes of membership do
 * not change the votes that counted, and notifies the initiator.
 */
export async function closeVoting(
  trx: Trx,
  subjectType: 'transfer' | 'approval_request',
  { vault_id: vaultId, id: subjectId, initiator_id: initiatorId }: SubjectRow,
  actorId: string | null,
  now: Date,
): Promise<void> {
  await sql`${prepared}
    update approval_eligibilities e set held = exists (
      select from entitled_voters n
      where n.vault_id = e.vault_id and n.subject_id = e.subject_id and n.user_id = e.user_id
        and n.step_index = e.step_index and n.policy_id = e.policy_id and n.group_id = e.group_id)
    where e.vault_id = ${vaultId} and e.subject_id = ${subjectId} and e.held is null`.execute(trx)
  await notifyInitiator(trx, { vaultId, subjectType, subjectId, initiatorId }, actorId, now)
}
