import { retryAt } from '../db/claim.ts'
import type { Trx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { screeningBackoff, screeningsAtOnce } from '../lib/limits.ts'
import { sentPhases } from '../lib/operations.ts'
import { lockHoldOn, wakeQueued } from '../modules/money/holds/queries.ts'
import { endScreeningHold, placeScreeningHold, unanswered } from '../modules/money/holds/screened.ts'
import {
  changeScreening,
  claimDueScreenings,
  findQuestion,
  lockClaimed,
  type ScreeningClaim,
} from '../modules/money/screening/queries.ts'
import { type Screener, type ScreeningAnswer, ScreeningError, screenerOf } from '../modules/money/screening/screener.ts'
import { moveTransfer } from '../modules/money/transfers/move.ts'
import { type LockedTransfer, lockTransfer } from '../modules/money/transfers/queries.ts'
import { audit } from '../modules/record/audit/record.ts'
import { notifyOfStop } from '../modules/record/notifications/notification-rows.ts'

/**
 * Sends every due question to the screening service, each from one node. A question without an answer is sent again later, and
 * its subject stays held until it is answered. Returns the number of questions that were sent.
 *
 * @param screener the screening service; that of the settings by default
 */
export async function runDueScreenings(deps: Deps, screener: Screener | null = screenerOf(deps)): Promise<number> {
  if (screener === null) return 0
  let sentCount = 0
  for (;;) {
    const claims = await claimDueScreenings(deps.db, deps.clock(), screeningsAtOnce)
    await Promise.all(claims.map((claim) => screen(deps, screener, claim)))
    sentCount += claims.length
    if (claims.length < screeningsAtOnce) return sentCount
  }
}

async function screen(deps: Deps, screener: Screener, claim: ScreeningClaim): Promise<void> {
  const { db, log, clock } = deps
  try {
    const question = await findQuestion(db, claim)
    const answer = question === null ? null : await screener.ask(question)
    await inTransaction(db, (trx) => (answer === null ? close(trx, claim) : apply(trx, claim, answer, clock())))
  } catch (error) {
    // Every error counts as a missing answer.
    log.warn({ err: error, subjectId: claim.subjectId }, 'a screening has no answer yet')
    const failure = error instanceof ScreeningError ? error.kind : 'failed'
    await inTransaction(db, (trx) => noteFailure(trx, claim, failure, clock())).catch((err: unknown) =>
      // The failure could not be stored, so that the question is due again when the claim ends.
      log.error({ err, subjectId: claim.subjectId }, 'a screening could not be noted'),
    )
  }
}

/** Closes the question about a transfer that has ended. */
async function close(trx: Trx, claim: ScreeningClaim): Promise<void> {
  if ((await lockClaimed(trx, claim)) !== null)
    await changeScreening(trx, claim, { failure: null, next_attempt_at: null })
}

type Locked = { transfer: LockedTransfer | null }

/** Locks the subject of a question and then the question. Returns null when another answer, or two people, decided first. */
async function lockQuestion(trx: Trx, claim: ScreeningClaim): Promise<Locked | null> {
  const { vaultId, subjectType, subjectId } = claim
  const transfer = subjectType === 'transfer' ? await lockTransfer(trx, vaultId, subjectId) : null
  return (await lockClaimed(trx, claim)) === null ? null : { transfer }
}

async function noteFailure(trx: Trx, claim: ScreeningClaim, failure: string, now: Date): Promise<void> {
  const locked = await lockQuestion(trx, claim)
  if (locked === null) return
  await changeScreening(trx, claim, { failure, next_attempt_at: retryAt(now, claim.attempts, screeningBackoff) })
  const { transfer } = locked
  // A deposit has been held since it was credited. A transfer waits for the answer without a hold; the hold shows that it waits, and
  // lets two people decide instead.
  if (transfer?.status !== 'pending') return
  if ((await lockHoldOn(trx, { ...claim, origin: 'screening' })) !== null) return
  await placeScreeningHold(trx, holdOn(claim, transfer, { reason: unanswered, audience: null, now }))
}

async function apply(trx: Trx, claim: ScreeningClaim, answer: ScreeningAnswer, now: Date): Promise<void> {
  const locked = await lockQuestion(trx, claim)
  if (locked === null) return
  await changeScreening(trx, claim, { ...answer, answered_at: now, failure: null, next_attempt_at: null })
  const { vaultId, subjectType, subjectId, id: questionId, attempts } = claim
  const by = { vaultId, actorId: null, now }
  const target = { type: subjectType, id: subjectId }
  await audit(trx, by, 'screening.answered', target, { ...answer, questionId, attempts })
  const { verdict, score, reference } = answer
  const answered = `The screening answered ${verdict}`
  if (verdict === 'allow') {
    await endScreeningHold(trx, claim, answered, now)
    if (subjectType === 'transfer') await wakeQueued(trx, vaultId, now, subjectId)
    return
  }
  const { transfer } = locked
  const isOver = transfer !== null && transfer.status !== 'pending'
  if (isOver || (verdict === 'block' && transfer?.phase === 'queued')) {
    await endScreeningHold(trx, claim, answered, now)
    if (!isOver) await refuse(trx, transfer, reference, now)
    return
  }
  const reason = `${answered}, with the score ${score}: ${reference}`
  const audience = transfer === null ? [] : [transfer.initiator_id]
  await placeScreeningHold(trx, { ...holdOn(claim, transfer, { reason, audience, now }), replacedBecause: answered })
}

type HoldFacts = { reason: string; audience: string[] | null; now: Date }

function holdOn(claim: ScreeningClaim, transfer: LockedTransfer | null, facts: HoldFacts) {
  const isHandedOver = transfer !== null && (sentPhases as readonly string[]).includes(transfer.phase)
  return { ...claim, ...facts, isHandedOver }
}

/** Ends a refused transfer, which was not handed over, and releases its funds. */
async function refuse(trx: Trx, transfer: LockedTransfer, reference: string, now: Date): Promise<void> {
  const { vault_id: vaultId, id: subjectId, initiator_id } = transfer
  const failureReason = `SCREENING_BLOCKED: ${reference}`
  await moveTransfer(trx, transfer, { event: 'failed', actorId: null, now, failureReason })
  await notifyOfStop(trx, { vaultId, subjectType: 'transfer', subjectId }, now, initiator_id)
}
