import type { Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { newId } from '../../../lib/ids.ts'
import { screeningValidMinutes } from '../../../lib/limits.ts'
import type { NewOperation } from '../../operations/feed/operation-rows.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import { audit, toAuditRow } from '../../record/audit/record.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { insertHold, insertHolds } from '../../rules/holds/hold-rows.ts'
import { type Posting, posting } from '../ledger/postings.ts'
import { askAnew, findScreening, newScreening, type ScreenedSubject, type ScreeningRow } from '../screening/queries.ts'
import { type LockedHold, lockHoldOn } from './queries.ts'
import { endHold, type NewHold, replaceHold } from './reserve.ts'

/** The reason of a hold before the answer of the screening. */
export const unanswered = 'The screening has not answered yet'

type NewDeposit = Pick<NewOperation, 'vaultId' | 'id' | 'tokenId' | 'addressId' | 'amount'>

/**
 * Asks about new deposits and holds each until its answer. Returns the postings that reserve them, for the statement that
 * credits them, so that the deposits are not available in between.
 */
export function holdNewDeposits(trx: Trx, deposits: NewDeposit[], now: Date): Promise<Posting[]> {
  const screenings = deposits.map((deposit) => newScreening(subjectOf(deposit), now))
  return holdUnanswered(trx, deposits, screenings, now)
}

/**
 * Holds a deposit as `holdNewDeposits` does, when a correction credits it with more than the screening was asked about.
 * `amount` is the surplus, which waits for another answer.
 */
export async function holdSurplus(trx: Trx, deposit: NewDeposit, now: Date): Promise<Posting[]> {
  await askAnew(trx, subjectOf(deposit), now)
  return holdUnanswered(trx, [deposit], [], now)
}

const subjectOf = ({ vaultId, id: subjectId }: NewDeposit) => ({ vaultId, subjectType: 'deposit', subjectId }) as const

async function holdUnanswered(
  trx: Trx,
  deposits: NewDeposit[],
  screenings: ReturnType<typeof newScreening>[],
  now: Date,
): Promise<Posting[]> {
  const held = deposits.map((deposit) => ({ ...deposit, id: newId(now), subject: subjectOf(deposit) }))
  wake(trx, 'screen')
  await insertRows(trx, {
    screenings,
    audit_records: held.map(({ vaultId, id: targetId, subject, amount }) => {
      const details = detailsOf(subject, unanswered, amount.toString())
      const event = { vaultId, actorId: null, action: 'hold.placed', targetType: 'hold', targetId, details, now }
      return toAuditRow(trx, event)
    }),
  })
  await insertHolds(
    trx,
    held.map(({ subject, id, amount }) => ({
      ...toHoldRow(subject, id, unanswered, now),
      reserved: amount.toString(),
    })),
  )
  return held.map(({ id: operationId, vaultId, tokenId, addressId, amount }) =>
    posting('hold', { vaultId, tokenId, addressId, operationId, amount }),
  )
}

function toHoldRow({ vaultId, subjectType, subjectId }: ScreenedSubject, id: string, reason: string, now: Date) {
  return {
    vault_id: vaultId,
    id,
    subject_type: subjectType,
    subject_id: subjectId,
    origin: 'screening',
    reason,
    placed_by_id: null,
    handed_over: 0,
    created_at: now,
  } as const
}

function detailsOf(
  { subjectType, subjectId }: Pick<ScreenedSubject, 'subjectType' | 'subjectId'>,
  reason: string,
  reserved: string | null,
) {
  return { subjectType, subjectId, origin: 'screening', reason, reserved, handedOver: 0 }
}

type Placing = ScreenedSubject & {
  reason: string
  /** True if the transfer may have been sent before. */
  isHandedOver?: boolean
  /** The recipients of a mail besides the administrators; null for no mail. */
  audience: string[] | null
  /** The reason why this hold replaces a hold of the screening on the same subject, which passes on its reserved amount. */
  replacedBecause?: string
  now: Date
}

/**
 * Holds a subject because of its screening. It does not wait for decisions in progress, because none relies on a subject that
 * the screening has not allowed.
 */
export async function placeScreeningHold(trx: Trx, placing: Placing): Promise<void> {
  const { vaultId, subjectType, subjectId, reason, isHandedOver = false, audience, now } = placing
  const id = newId(now)
  const handed_over = isHandedOver ? 1 : 0
  const hold = { ...toHoldRow({ vaultId, subjectType, subjectId }, id, reason, now), handed_over }
  const reserved = await insertReplacing(trx, hold, placing)
  const details = { ...detailsOf({ subjectType, subjectId }, reason, reserved), handedOver: handed_over }
  const event = { vaultId, actorId: null, action: 'hold.placed', targetType: 'hold', targetId: id, details, now }
  if (audience === null) {
    await audit(trx, event, event.action, { type: 'hold', id }, details)
    return
  }
  const words = { sentence: `The screening holds the ${subjectType} ${subjectId}`, after: { reason } }
  await announceVaultChange(trx, { ...event, words }, { userIds: audience })
}

/** Returns the amount that the hold reserves of a deposit: the amount that the replaced hold had reserved. */
async function insertReplacing(
  trx: Trx,
  hold: NewHold,
  { replacedBecause: reason, now, ...subject }: Placing,
): Promise<string | null> {
  const replaced = reason === undefined ? null : await lockHoldOn(trx, { ...subject, origin: 'screening' })
  if (reason === undefined || replaced === null) {
    await insertHold(trx, hold)
    return null
  }
  await replaceHold(trx, replaced, hold, { releasedById: null, reason, now })
  await recordEnd(trx, replaced, reason, now)
  return replaced.reserved
}

/** Ends the hold of a screening, if there is one; a hold of people on the same subject stays. */
export async function endScreeningHold(trx: Trx, subject: ScreenedSubject, reason: string, now: Date): Promise<void> {
  const hold = await lockHoldOn(trx, { ...subject, origin: 'screening' })
  if (hold === null) return
  await endHold(trx, hold, { releasedById: null, reason, now })
  await recordEnd(trx, hold, reason, now)
}

async function recordEnd(trx: Trx, hold: LockedHold, reason: string, now: Date): Promise<void> {
  const { vault_id: vaultId, id, subject_type: subjectType, subject_id: subjectId, origin, reserved } = hold
  const details = { subjectType, subjectId, origin, reason, reserved }
  await audit(trx, { vaultId, actorId: null, now }, 'hold.released', { type: 'hold', id }, details)
}

/** The state of the screening of a transfer at its hand-over. */
export type Clearance = {
  /** True if the screening permits the hand-over. */
  isClear: boolean
  /** The score of the answer, for policies; null without an answer. */
  score: number | null
}

/**
 * Reads the clearance of a transfer. Only two things permit the hand-over: an answer `allow` that is not too old, and two
 * people who released the hold of the screening. Both count only if the audit records, which nobody can rewrite, have them too.
 * Every other transfer waits, and a missing answer is requested.
 */
export async function clearTransfer(trx: Trx, vaultId: string, id: string, now: Date): Promise<Clearance> {
  const subject: ScreenedSubject = { vaultId, subjectType: 'transfer', subjectId: id }
  const row = await findScreening(trx, subject)
  const score = row?.score ?? null
  if (row !== null && ((await isAllowed(trx, row, now)) || (await isWaived(trx, row)))) return { isClear: true, score }
  const isOver = row === null || row.verdict === 'allow' || row.waived_hold_id !== null
  if (isOver) await askAnew(trx, subject, now)
  return { isClear: false, score: isOver ? null : score }
}

async function isAllowed(trx: Trx, { vault_id, subject_id, id, verdict, answered_at }: ScreeningRow, now: Date) {
  if (verdict !== 'allow' || answered_at === null) return false
  if (now.getTime() - answered_at.getTime() > screeningValidMinutes * 60_000) return false
  const records = await listRecordsOf(trx, vault_id, 'screening', [subject_id])
  return records.some(
    ({ fault, details }) => fault === null && details.questionId === id && details.verdict === 'allow',
  )
}

async function isWaived(trx: Trx, { vault_id, subject_id, waived_hold_id: holdId }: ScreeningRow): Promise<boolean> {
  if (holdId === null) return false
  const records = await listRecordsOf(trx, vault_id, 'hold', [holdId])
  return records.some(
    ({ fault, action, actorId, details }) =>
      fault === null && action === 'hold.released' && actorId !== null && details.subjectId === subject_id,
  )
}
