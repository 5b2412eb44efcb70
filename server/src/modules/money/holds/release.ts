import { type By, byInitiator } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { payloadReader } from '../../../http/read-payload.ts'
import { badRequest } from '../../../lib/errors.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { alreadyReleased } from '../../rules/holds/write.ts'
import { assertPerson } from '../../rules/policies/dual-control.ts'
import { findMembership } from '../../rules/policies/queries.ts'
import type { Executor, Step, StepContext } from '../../rules/votes/executor.ts'
import { decideResolution } from '../resolutions/may-resolve.ts'
import { changeScreening, lockScreeningHeldBy } from '../screening/queries.ts'
import { findHold, lockActiveHold, type ShownHold, wakeQueued } from './queries.ts'
import { endHold } from './reserve.ts'
import { HoldReleasePayload } from './schema.ts'

const readPayload = payloadReader(HoldReleasePayload)

/** Releases a hold after the vote of a second person, whatever the policies say. */
export const holdExecutors: { hold_release: Executor } = {
  hold_release: {
    async prepare(db, context, step) {
      const { reason } = readPayload(step.payload)
      const hold = await findReleasable(db, context, step)
      const payload = { reason, hold: evidenceOf(hold) }
      return { step: { ...step, payload }, targetType: 'hold', targetId: hold.id, baseVersion: null, facts: {} }
    },
    decide(trx, { vaultId, now }, _prepared, initiator) {
      assertPerson(initiator)
      return decideResolution(trx, 'hold_release', { vaultId, initiator, now })
    },
    async apply(trx, context, step) {
      const { reason } = readPayload(step.payload)
      await releaseHold(trx, { id: targetOf(step), reason }, byInitiator(context))
      return { resultId: targetOf(step) }
    },
  },
}

/** @throws 404 for a hold that the initiator does not see, 409 when it was released already */
async function findReleasable(db: Db | Trx, { vaultId, initiatorId }: StepContext, step: Step): Promise<ShownHold> {
  const initiator = orNotFound(await findMembership(db, vaultId, initiatorId), 'Hold')
  const readsAll = initiator.isAdmin || initiator.isAuditor
  const reader = { ...initiator, readsAll, isHeld: false, vault: { id: vaultId } }
  const hold = orNotFound(await findHold(db, reader, targetOf(step)), 'Hold')
  if (!hold.isActive) throw alreadyReleased()
  return hold
}

function targetOf({ targetId }: Step): string {
  if (targetId === null) throw badRequest('targetId', 'is required for hold_release')
  return targetId
}

/** What those who vote are shown, and what their votes are bound to. */
function evidenceOf({ subjectType, subjectId, subjectName, origin, reason, placedById, createdAt }: ShownHold) {
  return { subjectType, subjectId, subjectName, origin, reason, placedById, createdAt }
}

async function releaseHold(trx: Trx, { id, reason }: { id: string; reason: string }, by: By): Promise<void> {
  const { vaultId, actorId, now } = by
  const screening = await lockScreeningHeldBy(trx, vaultId, id)
  const hold = await lockActiveHold(trx, vaultId, id)
  if (hold === null) throw alreadyReleased()
  await endHold(trx, hold, { releasedById: actorId, reason, now })
  if (screening !== null) {
    // Two people have decided instead of the screening, which is not asked any more.
    await changeScreening(trx, { vaultId, id: screening.id }, { waived_hold_id: id, next_attempt_at: null })
  }
  await wakeQueued(trx, vaultId, now)
  const { subject_type: subjectType, subject_id: subjectId } = hold
  await announceVaultChange(
    trx,
    {
      vaultId,
      actorId,
      action: 'hold.released',
      targetType: 'hold',
      targetId: id,
      details: { subjectType, subjectId, reason, reserved: hold.reserved },
      words: { sentence: `The hold on the ${subjectType} ${subjectId} was released`, after: { reason } },
      now,
    },
    { userIds: hold.placed_by_id === null ? [] : [hold.placed_by_id] },
  )
}
