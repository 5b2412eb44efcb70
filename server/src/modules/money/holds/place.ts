import { type ByMember, byMember, type Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { conflict, forbidden } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { endSessionsOf } from '../../people/sign-in/sessions.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { type HoldSubjectType, lockForPlacing } from '../../rules/holds/active.ts'
import { decide, factsOfInitiator } from '../../rules/policies/decide.ts'
import { findMet, findSubject, isLastAdministrator, isShutOut } from './queries.ts'
import { insertReserving } from './reserve.ts'

type Placing = { subjectType: HoldSubjectType; subjectId: string; reason: string }

/**
 * Stops something at once. It waits for every order, vote and hand-over that is being decided, and lets none begin before
 * its commit: what was decided before it has been committed, and what comes after it sees it. Returns the id of the hold.
 *
 * @throws 403 for a member whom no policy allows it, 404 for what they do not see, 409 when it is held already, has ended,
 *   or is the last administrator
 */
export async function placeHold(trx: Trx, { subjectType, subjectId, reason }: Placing, by: ByMember): Promise<string> {
  const { vaultId, actorId, now } = byMember(by)
  await assertMayPlace(trx, by.member, now)
  await lockForPlacing(trx, vaultId)
  const what = { type: subjectType, id: subjectId }
  const subject = orNotFound(await findSubject(trx, by.member, what), 'Subject')
  if (subject.phase === 'done') throw conflict('wrong_state', 'The transfer has ended, so there is nothing to hold')
  if (subjectType === 'user' && (await isLastAdministrator(trx, vaultId, subjectId)))
    throw conflict('last_administrator', 'The vault has no other administrator who is not held')

  const { handedOver, initiatorIds } = await findMet(trx, vaultId, what)
  const id = newId(now)
  const hold = {
    vault_id: vaultId,
    id,
    subject_type: subjectType,
    subject_id: subjectId,
    origin: 'people',
    reason,
    placed_by_id: actorId,
    handed_over: handedOver,
    created_at: now,
  } as const
  const reserved = await insertReserving(trx, hold, subject.deposit, now)
  const change = {
    vaultId,
    actorId,
    action: 'hold.placed',
    targetType: 'hold',
    targetId: id,
    details: { subjectType, subjectId, reason, reserved: reserved?.toString() ?? null, handedOver },
    words: {
      sentence: `A hold was placed on the ${subjectType} ${subject.name}`,
      after: { reason, ...(handedOver > 0 ? { 'transfers handed over before': handedOver } : {}) },
    },
    now,
  }
  await announceVaultChange(trx, change, { userIds: initiatorIds })
  if (subjectType === 'user' && (await isShutOut(trx, subjectId))) await endSessionsOf(trx, subjectId, 'hold', now)
  return id
}

/**
 * Administrators always may, and others whom a policy allows it with certainty: a hold does not wait for votes.
 * @throws 403
 */
async function assertMayPlace(trx: Trx, member: Member, now: Date): Promise<void> {
  if (member.isAdmin) return
  const facts = factsOfInitiator(member, now)
  const question = { vaultId: member.vault.id, actionType: 'hold_place', initiator: member, facts }
  const { effect, blockReason } = await decide(trx, question)
  if (effect === 'allow') return
  if (effect === 'block') throw forbidden('blocked_by_policy', blockReason ?? 'A policy blocks this')
  throw forbidden('no_policy_allows', 'Administrators place holds, and those whom a policy allows it without votes')
}
