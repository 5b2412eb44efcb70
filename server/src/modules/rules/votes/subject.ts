import type { Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { type AppError, forbidden, notFound } from '../../../lib/errors.ts'
import type { TargetRecord } from '../../record/audit/content.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import type { RequirementState } from './tally.ts'

/** The columns that every kind of subject has. */
export type SubjectRow = { vault_id: string; id: string; initiator_id: string; payload_hash: Buffer }

/** A kind of subject whose rows are compared with its audit records before every action on it. */
export type RecordedSubject<Row extends SubjectRow, Stored = unknown, Recorded = unknown> = {
  type: 'transfer' | 'approval_request'
  /** The noun for messages. */
  noun: 'transfer' | 'request'
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
  lock(trx: Trx, vaultId: string, id: string): Promise<Row | null>
  /** @throws 409 when it takes no votes now */
  assertOpen(row: Row, now: Date): void
  /** The audit record of a vote. */
  toVoteRecord(decision: 'approve' | 'reject'): { action: string; details: Record<string, unknown> }
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
  throw forbidden(`Only the initiator or an administrator may cancel a ${noun}`)
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
