import { type RawBuilder, sql } from 'kysely'
import type { Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { insertsOf, type Part, runParts } from '../../../db/insert-rows.ts'
import type { Deps } from '../../../deps.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { type AppError, conflict, forbidden } from '../../../lib/errors.ts'
import type { SignedVote } from '../../../lib/signed-vote.ts'
import { type RecordAsJson, readRecords, recordsOf } from '../../record/audit/queries.ts'
import type { TargetRecord } from '../../record/audit/record.ts'
import { toAuditRow } from '../../record/audit/record.ts'
import { mailToInitiator } from '../../record/notifications/notification-rows.ts'
import { type ActiveHold, heldConflict } from '../holds/active.ts'
import { type KeyElsewhere, keeping, type Verified, verifySigned } from '../signatures/take.ts'
import { type Cast, type Voter, type Votes, voterOf, votesAfter } from './queries.ts'
import { isApproved, type RequirementState, type VoteChoice } from './tally.ts'

/** A vote that a member casts. */
export type Ballot = {
  member: Member
  id: string
  comment: string | null
  /** The hash of the content that the voter was shown, in hex; null when the voter names no hash. */
  payloadHash: string | null
  /** The signed vote; undefined when the voter did not sign. */
  signed: SignedVote | undefined
  /** The origin whose pages people sign on. */
  origin: string
  /** The key of a vote that may be signed on the page of the wallet service. */
  keyElsewhere?: KeyElsewhere
  now: Date
}

/** The body that a voter sends with a decision. */
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
 * The subject is locked first, so that each vote sees the votes before it in the tally. Then the subject is read, and all
 * writes follow at the end.
 *
 * @throws 403 for a member who has no vote, 404, 409 when it takes no votes, is held or must not continue
 */
export async function voteOn<Row extends SubjectRow, Stored, Recorded>(
  trx: Trx,
  subject: VotableSubject<Row, Stored, Recorded>,
  decision: VoteChoice,
  ballot: Ballot,
): Promise<Voted<Stored> | Refusal> {
  const { member, id, comment, now } = ballot
  const row = await subject.lock(trx, member, id)
  subject.assertOpen(row, now)
  const cast = { userId: member.userId, decision, comment, now }
  const gathered = await gather(trx, subject, row, voteColumn(cast, row, subject.holdOn(row)))
  const { hold, voter, votes } = gathered.more
  // A rejection releases the reserved funds, which then cover an exposure.
  if (hold !== null && (decision === 'approve' || hold.subjectType !== 'exposure')) throw heldConflict(hold)
  const compared = await stopUnlessSame(trx, subject, row, gathered, now)
  if ('refusal' in compared) return compared
  const { recorded } = compared

  assertMayVote(voter, row, ballot)
  const verified = await takeSignature(trx, subject, row, { decision, ballot, recorded })
  const by = { member, now, parts: castings(trx, subject, row, cast, verified) }
  const voted = { stored: gathered.stored, votes }
  if (decision === 'reject') {
    await subject.onRejected(trx, row, by)
    return { ...voted, outcome: 'rejected' }
  }
  // The requirements and votes in the tables equal those of the audit records, which was just verified.
  if (!isApproved(votes.requirements)) {
    await runParts(trx, by.parts)
    return { ...voted, outcome: 'waiting' }
  }
  const refused = await subject.onApproved(trx, row, { ...by, recorded, requirements: votes.requirements })
  return refused ?? { ...voted, outcome: 'approved' }
}

/** A cast vote, with the state of its subject, all votes and the outcome. */
export type Voted<Stored> = { stored: Stored; votes: Votes; outcome: 'waiting' | 'approved' | 'rejected' }

/** SQL: JSON of the other data about the subject that a vote needs. */
const voteColumn = (cast: Cast, { vault_id, id }: SubjectRow, hold: RawBuilder<ActiveHold | null>) =>
  sql<{ hold: ActiveHold | null; voter: Voter | null; votes: Votes }>`json_build_object(
    'hold', ${hold}, 'voter', ${voterOf(cast.userId, vault_id, id)}, 'votes', ${votesAfter(cast, vault_id, id)})`

/**
 * @throws 403 when the voter is not in the snapshot or is no longer entitled; 409 for a second vote, or for a hash that the voter
 *   names and the subject does not have
 */
function assertMayVote(voter: Voter | null, row: SubjectRow, { payloadHash }: Ballot): void {
  if (voter === null) throw forbidden('not_an_approver', 'You are not an approver of this request')
  if (voter.decision !== null) throw votedAlready()
  if (!voter.isEntitled)
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

const votedAlready = () => conflict('already_voted', 'You have already voted')

/**
 * Demands a signature if the subject requires one. A rejection never needs a signature.
 * @throws 403 and 409 as `verifySigned`; 409 when the subject cannot be approved in a protected vault
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
  return verifySigned(trx, signed, expected, origin, keyElsewhere)
}

/** SQL: the parts that write a vote, its audit record and its signature. */
function castings<Row extends SubjectRow, Stored, Recorded>(
  trx: Trx,
  subject: VotableSubject<Row, Stored, Recorded>,
  row: Row,
  { userId, decision, comment, now }: Cast,
  verified: Verified | null,
): Part[] {
  const { vault_id: vaultId, id } = row
  const update = sql`
    update approval_voters set decision = ${decision}, comment = ${comment}, voted_at = ${now}
    where vault_id = ${vaultId} and subject_id = ${id} and user_id = ${userId} and decision is null returning id`
  const { action, details } = subject.toVoteRecord(decision)
  const payloadHash = row.payload_hash.toString('hex')
  const signedVote = verified === null ? {} : { signedVote: verified.hash }
  const record = toAuditRow(trx, {
    ...{ vaultId, actorId: userId, action, targetType: subject.type, targetId: id, now },
    details: { ...details, comment, payloadHash, ...signedVote },
  })
  return [
    { update, rows: 1, otherwise: votedAlready },
    ...insertsOf({ audit_records: [record] }),
    ...(verified === null ? [] : keeping(trx, verified, { vaultId, subjectId: id, now })),
  ]
}

/**
 * SQL: closes the voting on a subject. Stores which voters are entitled at that time, so that later changes of membership do
 * not change the votes that counted, and mails the initiator unless the initiator decided. Returns parts of the statement that
 * decides.
 */
export function closing(
  trx: Trx,
  subjectType: SubjectType,
  { vault_id: vaultId, id: subjectId, initiator_id: initiatorId }: SubjectRow,
  actorId: string | null,
  now: Date,
): Part[] {
  const held = sql`
    update approval_eligibilities e set held = exists (
      select from entitled_voters n
      where n.vault_id = e.vault_id and n.subject_id = e.subject_id and n.user_id = e.user_id
        and n.step_index = e.step_index and n.policy_id = e.policy_id and n.group_id = e.group_id)
    where e.vault_id = ${vaultId} and e.subject_id = ${subjectId} and e.held is null`
  return initiatorId === actorId
    ? [held]
    : [held, mailToInitiator(trx, { vaultId, subjectType, subjectId, initiatorId }, now)]
}

/** The types of subjects of votes, which are the nouns of their audit records. */
type SubjectType = 'transfer' | 'approval_request' | 'payout'

/** The columns that every type of subject has. */
export type SubjectRow = { vault_id: string; id: string; initiator_id: string; payload_hash: Buffer }

/** A type of subject whose rows are compared with its audit records before every action on the subject. */
export type RecordedSubject<Row extends SubjectRow, Stored = unknown, Recorded = unknown> = {
  type: SubjectType
  /** The noun for messages. */
  noun: 'transfer' | 'request' | 'payout'
  /** Reads the stored columns of these subjects, in one statement with a further column. */
  listStored(trx: Trx, vaultId: string, ids: string[], beside: RawBuilder<unknown>): Promise<(Stored & Beside)[]>
  /** Returns the first difference, or the content of the audit records. */
  compare(stored: Stored, records: TargetRecord[]): { recorded: Recorded } | { difference: string }
  /** Ends or halts a subject that differs from its audit records, and alerts people. Returns the answer to the caller. */
  stop(trx: Trx, row: Row, reason: string, now: Date): Promise<AppError>
}

/** The further column of the statement of `listStored`. */
export type Beside = { id: string; beside: unknown }

/** A type of subject that waits for votes. */
export type VotableSubject<Row extends SubjectRow, Stored = unknown, Recorded = unknown> = RecordedSubject<
  Row,
  Stored,
  Recorded
> & {
  /**
   * Locks a subject that the member sees, so that its votes, cancellation and expiry wait for each other. Also takes the shared
   * lock of the holds before they are read. @throws 404
   */
  lock(trx: Trx, member: Member, id: string): Promise<Row>
  /** SQL: JSON of the active hold that forbids any vote on it, or null, as an expression of the statement of `listStored`. */
  holdOn(row: Row): RawBuilder<ActiveHold | null>
  /** @throws 409 when the subject takes no votes now */
  assertOpen(row: Row, now: Date): void
  /**
   * Returns true if approvals of the subject must be signed.
   * @throws 409 when the subject cannot be approved in a protected vault
   */
  mustBeSigned(recorded: Recorded, member: Member): boolean
  /** The audit record of a vote. */
  toVoteRecord(decision: VoteChoice): { action: string; details: Record<string, unknown> }
  /**
   * Decides again after the last required vote and continues the subject. Writes the vote and the outcome together. A refusal is
   * committed with the vote.
   * @throws 409 when the subject must not continue now; then the vote is not cast either
   */
  onApproved(trx: Trx, row: Row, approval: Approval<Recorded>): Promise<Refusal | null>
  onRejected(trx: Trx, row: Row, by: Deciding): Promise<void>
}

/** The member who casts the deciding vote; `parts` write it. */
export type Deciding = { member: Member; now: Date; parts: Part[] }
export type Approval<Recorded> = Deciding & { recorded: Recorded; requirements: RequirementState[] }

/** @throws 403 for all callers but the initiator and the administrators */
export function assertMayCancel(noun: string, { initiator_id }: SubjectRow, member: Member): void {
  if (initiator_id === member.userId || member.isAdmin) return
  throw forbidden('not_permitted', `Only the initiator or an administrator may cancel a ${noun}`)
}

/** The stored state of a subject and its audit records, read at one moment. */
type Gathered<Stored> = { stored: Stored; records: TargetRecord[] }

/** Reads a locked subject, its audit records and the further column `more`, in one statement where the type permits it. */
export async function gather<Row extends SubjectRow, Stored, Recorded, More>(
  trx: Trx,
  subject: RecordedSubject<Row, Stored, Recorded>,
  row: Row,
  more: RawBuilder<More>,
): Promise<Gathered<Stored> & { more: More }> {
  const { gathered, more: found } = await gatherAll(trx, subject, [row], more)
  return { ...gathered.get(row.id)!, more: found }
}

/** Reads subjects of one vault as `gather` does. Returns them by their ids. `more` is read once. */
export async function gatherAll<Row extends SubjectRow, Stored, Recorded, More>(
  trx: Trx,
  { type, listStored }: RecordedSubject<Row, Stored, Recorded>,
  rows: [Row, ...Row[]],
  more: RawBuilder<More>,
): Promise<{ gathered: Map<string, Gathered<Stored>>; more: More }> {
  const { vault_id: vaultId } = rows[0]
  const ids = rows.map(({ id }) => id)
  const beside = sql`case when row_number() over () = 1
    then json_build_object('records', ${recordsOf(vaultId, type, ids)}, 'more', ${more}) end`
  const stored = await listStored(trx, vaultId, ids, beside)
  const found = stored.find((row) => row.beside !== null)!.beside as { records: RecordAsJson[]; more: More }
  const records = readRecords(trx, found.records)
  const gathered = stored.map((row) => {
    return [row.id, { stored: row, records: records.filter(({ targetId }) => targetId === row.id) }] as const
  })
  return { gathered: new Map(gathered), more: found.more }
}

/**
 * Compares a locked subject with its audit records. A difference stops the subject; the caller must commit the stop and must
 * not do anything else with the subject.
 */
export async function stopUnlessAsRecorded<Row extends SubjectRow, Stored, Recorded>(
  trx: Trx,
  subject: RecordedSubject<Row, Stored, Recorded>,
  row: Row,
  now: Date,
): Promise<{ recorded: Recorded } | Refusal> {
  return stopUnlessSame(trx, subject, row, await gather(trx, subject, row, sql`null`), now)
}

/** Compares as `stopUnlessAsRecorded` does, with the state and the records that were read before. */
export async function stopUnlessSame<Row extends SubjectRow, Stored, Recorded>(
  trx: Trx,
  { noun, compare, stop }: RecordedSubject<Row, Stored, Recorded>,
  row: Row,
  { stored, records }: Gathered<Stored>,
  now: Date,
): Promise<{ recorded: Recorded } | Refusal> {
  const compared = compare(stored, records)
  if ('recorded' in compared) return compared
  return { refusal: await stop(trx, row, `The ${noun} differs from its audit records: ${compared.difference}`, now) }
}
