import { sql } from 'kysely'
import { byMember, type Member } from '../../../access/caller.ts'
import { prepared, type Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { type AppError, conflict, forbidden, notFound } from '../../../lib/errors.ts'
import type { SignedVote } from '../../../lib/signed-vote.ts'
import type { TargetRecord } from '../../record/audit/content.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import { audit } from '../../record/audit/record.ts'
import { notifyInitiator } from '../../record/notifications/write.ts'
import { type ActiveHold, heldConflict } from '../holds/active.ts'
import { hashOfSigned, type KeyElsewhere, keepSigned, type Verified, verifySigned } from '../signatures/take.ts'
import { listRequirements } from './queries.ts'
import { isApproved, type RequirementState, type VoteChoice } from './tally.ts'

/** A vote that a member casts. */
export type Ballot = {
  member: Member
  id: string
  comment: string | null
  /** Hex of the hash that the voter names for what they were shown; null: they name none. */
  payloadHash: string | null
  /** The vote as the voter signed it; undefined: they did not. */
  signed: SignedVote | undefined
  /** The origin whose pages people sign on. */
  origin: string
  /** Of a vote that may be signed on the page of the wallet service. */
  keyElsewhere?: KeyElsewhere
  now: Date
}

/** What a voter sends with a decision. */
type VoteInput = { comment?: string; payloadHash?: string; signature?: SignedVote }

export function toBallot(
  { comment, payloadHash, signature: signed }: VoteInput = {},
  { publicOrigin }: Pick<Deps, 'publicOrigin'>,
  by: Pick<Ballot, 'member' | 'id' | 'now' | 'keyElsewhere'>,
): Ballot {
  return { ...by, comment: comment ?? null, payloadHash: payloadHash ?? null, signed, origin: publicOrigin() }
}

/**
 * Casts one vote on a subject. One rejection ends it. The last required approval continues it, after a new check of
 * everything that may have changed; that check can only restrict. A refusal is committed.
 *
 * @throws 403 for a member who has no vote, 404, 409 when it takes no votes, is held or must not continue
 */
export async function voteOn<Row extends SubjectRow, Stored, Recorded>(
  trx: Trx,
  subject: VotableSubject<Row, Stored, Recorded>,
  decision: VoteChoice,
  ballot: Ballot,
): Promise<Refusal | null> {
  const { member, id, comment, now } = ballot
  const row = await lockVisible(trx, subject, member, id)
  subject.assertOpen(row, now)
  const hold = await subject.findHold(trx, row)
  // What is rejected gives back its funds, which cover an exposure.
  if (hold !== null && (decision === 'approve' || hold.subjectType !== 'exposure')) throw heldConflict(hold)
  const compared = await stopUnlessAsRecorded(trx, subject, row, now)
  if ('refusal' in compared) return compared

  await assertMayVote(trx, row, ballot)
  const verified = await takeSignature(trx, subject, row, { decision, ballot, recorded: compared.recorded })
  await castVote(trx, decision, ballot)
  const { action, details } = subject.toVoteRecord(decision)
  const payloadHash = row.payload_hash.toString('hex')
  const signedVote = verified === null ? {} : { signedVote: hashOfSigned(verified.signed) }
  const written = { ...details, comment, payloadHash, ...signedVote }
  await audit(trx, byMember(ballot), action, { type: subject.type, id }, written)
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
 * @throws 403 when the voter is not in the snapshot or is no longer entitled; 409 for a second vote, or for a hash that the voter
 *   names and the subject does not have
 */
async function assertMayVote(trx: Trx, row: SubjectRow, { member, id, payloadHash }: Ballot): Promise<void> {
  const vaultId = member.vault.id
  const { rows } = await sql<{ decision: string | null; entitled: boolean }>`${prepared}
    select v.decision, exists (
      select from entitled_voters e
      where e.vault_id = v.vault_id and e.subject_id = v.subject_id and e.user_id = v.user_id) as entitled
    from approval_voters v
    where v.vault_id = ${vaultId} and v.subject_id = ${id} and v.user_id = ${member.userId}`.execute(trx)
  const voter = rows[0]
  if (voter === undefined) throw forbidden('not_an_approver', 'You are not an approver of this request')
  if (voter.decision !== null) throw conflict('already_voted', 'You have voted already')
  if (!voter.entitled)
    throw forbidden(
      'not_an_approver',
      'You are no longer a member of the group that made you an approver of this request',
    )
  if (payloadHash !== null && payloadHash !== row.payload_hash.toString('hex')) {
    throw conflict(
      'payload_changed',
      'This is not what you were shown; read it again and compare it before you vote',
      'payloadHash is not the hash of what would be carried out',
    )
  }
}

/**
 * Demands a signature where the subject does, and keeps it. Stopping is always possible without one.
 * @throws 403 and 409 as `verifySigned`; 409 when it cannot be approved in a protected vault
 */
async function takeSignature<Row extends SubjectRow, Stored, Recorded>(
  trx: Trx,
  subject: VotableSubject<Row, Stored, Recorded>,
  row: Row,
  { decision, ballot, recorded }: { decision: VoteChoice; ballot: Ballot; recorded: Recorded },
): Promise<Verified | null> {
  const { member, signed, origin, keyElsewhere, now } = ballot
  const isRequired = decision === 'approve' && subject.mustBeSigned(recorded, member)
  if (!isRequired && signed === undefined) return null
  const hash = row.payload_hash.toString('hex')
  const expected = { subject: subject.type, hash, decision, member, now }
  const verified = await verifySigned(trx, signed, expected, origin, keyElsewhere)
  await keepSigned(trx, verified, { vaultId: row.vault_id, subjectId: row.id, now })
  return verified
}

async function castVote(trx: Trx, decision: VoteChoice, { member, id, comment, now }: Ballot): Promise<void> {
  await trx
    .updateTable('approval_voters')
    .set({ decision, comment, voted_at: now })
    .where('vault_id', '=', member.vault.id)
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
  subjectType: SubjectType,
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

/** What people vote on; the noun of its audit records. */
type SubjectType = 'transfer' | 'approval_request' | 'payout'

/** The columns that every kind of subject has. */
export type SubjectRow = { vault_id: string; id: string; initiator_id: string; payload_hash: Buffer }

/** A kind of subject whose rows are compared with its audit records before every action on it. */
export type RecordedSubject<Row extends SubjectRow, Stored = unknown, Recorded = unknown> = {
  type: SubjectType
  /** The noun for messages. */
  noun: 'transfer' | 'request' | 'payout'
  listStored(trx: Trx, vaultId: string, ids: string[]): Promise<Stored[]>
  /** Returns the first difference, or the content of the audit records. */
  compare(stored: Stored, records: TargetRecord[]): { recorded: Recorded } | { difference: string }
  /** Ends or halts a subject that differs from its audit records, and alerts people. Returns the answer to the caller. */
  stop(trx: Trx, row: Row, reason: string, now: Date): Promise<AppError>
}

/** A kind of subject that waits for votes. */
export type VotableSubject<Row extends SubjectRow, Stored = unknown, Recorded = unknown> = RecordedSubject<
  Row,
  Stored,
  Recorded
> & {
  title: string
  isVisible(trx: Trx, member: Member, id: string): Promise<boolean>
  /** Takes the shared lock of the holds too, before `findHold` reads them. */
  lock(trx: Trx, vaultId: string, id: string): Promise<Row | null>
  /** The active hold that forbids any vote on it, or null. */
  findHold(trx: Trx, row: Row): Promise<ActiveHold | null>
  /** @throws 409 when it takes no votes now */
  assertOpen(row: Row, now: Date): void
  /**
   * Whether approvals of it must be signed.
   * @throws 409 when it cannot be approved in a protected vault at all
   */
  mustBeSigned(recorded: Recorded, member: Member): boolean
  /** The audit record of a vote. */
  toVoteRecord(decision: VoteChoice): { action: string; details: Record<string, unknown> }
  /**
   * Decides again and continues, after the last required vote. A refusal is committed with the vote.
   * @throws 409 when it must not continue now; then the vote is not cast either
   */
  onApproved(trx: Trx, row: Row, approval: Approval<Recorded>): Promise<Refusal | null>
  onRejected(trx: Trx, row: Row, by: { member: Member; now: Date }): Promise<void>
}

export type Approval<Recorded> = {
  member: Member
  now: Date
  recorded: Recorded
  requirements: RequirementState[]
}

/** Locks a subject that the member sees, so that votes, cancellation and expiry of it wait for each other. @throws 404 */
export async function lockVisible<Row extends SubjectRow>(
  trx: Trx,
  { title, isVisible, lock }: Pick<VotableSubject<Row>, 'title' | 'isVisible' | 'lock'>,
  member: Member,
  id: string,
): Promise<Row> {
  const row = (await isVisible(trx, member, id)) ? await lock(trx, member.vault.id, id) : null
  if (row === null) throw notFound(title)
  return row
}

/** @throws 403 for all callers but the initiator and the administrators */
export function assertMayCancel(noun: string, { initiator_id }: SubjectRow, member: Member): void {
  if (initiator_id === member.userId || member.isAdmin) return
  throw forbidden('not_permitted', `Only the initiator or an administrator may cancel a ${noun}`)
}

/**
 * Compares a locked subject with its audit records. A difference stops the subject; the caller must commit that and must
 * not do anything else with the subject.
 */
export async function stopUnlessAsRecorded<Row extends SubjectRow, Stored, Recorded>(
  trx: Trx,
  { type, noun, listStored, compare, stop }: RecordedSubject<Row, Stored, Recorded>,
  row: Row,
  now: Date,
): Promise<{ recorded: Recorded } | Refusal> {
  const [stored] = await listStored(trx, row.vault_id, [row.id])
  const compared = compare(stored!, await listRecordsOf(trx, row.vault_id, type, [row.id]))
  if ('recorded' in compared) return compared
  return { refusal: await stop(trx, row, `The ${noun} is not what was recorded: ${compared.difference}`, now) }
}
