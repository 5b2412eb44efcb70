import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { payloadReader } from '../../../http/read-payload.ts'
import { badRequest } from '../../../lib/errors.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { findMembership } from '../../rules/decisions/decide.ts'
import { assertPerson } from '../../rules/decisions/dual-control.ts'
import { lockForPlacing } from '../../rules/holds/active.ts'
import { alreadyReleased } from '../../rules/holds/hold-rows.ts'
import type { Executor, Step, StepContext } from '../../rules/votes/executor.ts'
import { decideResolution } from '../resolutions/may-resolve.ts'
import { changeScreening, lockScreeningHeldBy } from '../screening/queries.ts'
import { findEveryoneId, findHold, listCompanions, lockActiveHold, type ShownHold, wakeQueued } from './queries.ts'
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
      const { vaultId, initiatorId: releasedById, now } = context
      const ending = { releasedById, reason, now }
      await endWithCompanion(trx, { vaultId, id: targetOf(step), isItself: true }, ending)
      return { resultId: targetOf(step) }
    },
  },
}

/** @throws 404 for a hold that the initiator does not see, 409 when it was already released */
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

/** Returns the evidence that voters are shown and that their votes are bound to. */
function evidenceOf({ subjectType, subjectId, subjectName, origin, reason, placedById, createdAt }: ShownHold) {
  return { subjectType, subjectId, subjectName, origin, reason, placedById, createdAt }
}

type Ending = { releasedById: string | null; reason: string; now: Date; operator?: string }

/**
 * Ends a hold and the suspension of its placer; without the hold itself, only the suspension.
 * @throws 409 when it was already released
 */
export async function endWithCompanion(
  trx: Trx,
  { vaultId, id, isItself }: { vaultId: string; id: string; isItself: boolean },
  ending: Ending,
): Promise<void> {
  if (isItself) await releaseHold(trx, { vaultId, id }, ending)
  for (const companion of await listCompanions(trx, vaultId, id))
    await releaseHold(trx, { vaultId, id: companion }, ending)
}

async function releaseHold(trx: Trx, { vaultId, id }: { vaultId: string; id: string }, ending: Ending): Promise<void> {
  const { releasedById, reason, now, operator } = ending
  const screening = await lockScreeningHeldBy(trx, vaultId, id)
  const hold = await lockActiveHold(trx, vaultId, id)
  if (hold === null) throw alreadyReleased()
  await endHold(trx, hold, { releasedById, reason, now })
  if (screening !== null) {
    // People have decided instead of the screening, so its question is closed.
    await changeScreening(trx, { vaultId, id: screening.id }, { waived_hold_id: id, next_attempt_at: null })
  }
  await wakeQueued(trx, vaultId, now)
  const { subject_type: subjectType, subject_id: subjectId } = hold
  const byOperator = operator === undefined ? {} : { operator }
  const change = {
    ...{ vaultId, actorId: releasedById, action: 'hold.released', targetType: 'hold', targetId: id, now },
    details: { subjectType, subjectId, reason, reserved: hold.reserved, ...byOperator },
    words: { sentence: `The hold on the ${subjectType} ${subjectId} was released`, after: { reason, ...byOperator } },
  }
  const userIds = [
    ...(hold.placed_by_id === null ? [] : [hold.placed_by_id]),
    ...(subjectType === 'user' ? [subjectId] : []),
  ]
  const groupIds = operator === undefined ? [] : [await findEveryoneId(trx, vaultId)]
  await announceVaultChange(trx, change, { userIds, groupIds })
}

type ByOperator = { code: string; id: string; reason: string; operator: string; now: Date }

/**
 * Releases a hold for an operator of the service, when everybody who could release it is held. Every member gets a mail.
 * @throws when there is no such vault or no such active hold
 */
export async function releaseByOperator(trx: Trx, { code, id, ...ending }: ByOperator): Promise<void> {
  const { rows } = await sql<{ vaultId: string }>`
    select h.vault_id as "vaultId" from holds h join vaults v on v.id = h.vault_id
    where v.code = ${code} and h.id = ${id} and h.released_at is null`.execute(trx)
  const [found] = rows
  if (found === undefined)
    throw new Error(`The vault ${JSON.stringify(code)} has no hold ${JSON.stringify(id)} in force`)
  await lockForPlacing(trx, found.vaultId)
  await endWithCompanion(trx, { vaultId: found.vaultId, id, isItself: true }, { ...ending, releasedById: null })
}
