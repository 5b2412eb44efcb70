import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { conflict } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { endSessionsOf } from '../../people/sign-in/sessions.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { assertPerson } from '../../rules/decisions/dual-control.ts'
import { type HoldSubjectType, lockForPlacing } from '../../rules/holds/active.ts'
import { leavesQuorum } from './left-quorum.ts'
import { assertMayPlace } from './may-place.ts'
import { assertNotRepeated, endOfHold, isPerson } from './people.ts'
import { findAffected, findSubject, isLastAdministrator, isShutOut, type Subject } from './queries.ts'
import { insertReserving } from './reserve.ts'

type Placing = { subjectType: HoldSubjectType; subjectId: string; reason: string }

/**
 * Holds a subject at once. It waits for every order, vote and hand-over that is being decided, and lets none begin before its
 * commit: earlier decisions have been committed, and later ones see the hold. A hold on a person ends after 72 hours unless a
 * second person confirms it. Returns the id of the hold.
 *
 * @throws 403 for a member whom no policy allows it, 404 for a subject that they do not see, 409 when the subject is held
 * already, has ended, or is the last administrator
 */
export async function placeHold(trx: Trx, { subjectType, subjectId, reason }: Placing, by: ByMember): Promise<string> {
  const { vaultId, now } = byMember(by)
  await assertMayPlace(trx, by.member, now)
  await lockForPlacing(trx, vaultId)
  const target = { type: subjectType, id: subjectId }
  const subject = orNotFound(await findSubject(trx, by.member, target), 'Subject')
  if (subject.phase === 'done') throw conflict('wrong_state', 'The transfer has ended, so there is nothing to hold')
  if (subjectType === 'user' && (await isLastAdministrator(trx, vaultId, subjectId)))
    throw conflict('last_administrator', 'The vault has no other administrator who is not held')

  const id = newId(now)
  const isOnPerson = subjectType === 'user' && (await isPerson(trx, subjectId))
  const endsAt = isOnPerson ? endOfHold(now) : null
  const suspends = isOnPerson && (await checkOnPerson(trx, subjectId, by)) === 'suspends'
  await insertAnnounced(
    trx,
    { id, target, name: subject.name, deposit: subject.deposit, reason, endsAt, becauseOfId: null },
    by,
  )
  if (suspends) await suspendPlacer(trx, { becauseOfId: id, endsAt }, by)
  return id
}

/**
 * Checks a hold on a person who votes on rules or releases: it must leave a quorum besides the placer, or it suspends the
 * placer, too. Whoever holds themselves, after a passkey was stolen, is suspended by that hold already.
 * @throws 403 for a service, and for a placer whose last hold on the person ended unconfirmed
 */
async function checkOnPerson(trx: Trx, subjectId: string, by: ByMember): Promise<'stands alone' | 'suspends'> {
  const { vaultId, actorId: placerId, now } = byMember(by)
  assertPerson(by.member)
  await assertNotRepeated(trx, { vaultId, subjectId, placerId, now })
  if (subjectId === placerId) return 'stands alone'
  return (await leavesQuorum(trx, { vaultId, subjectId, placerId })) ? 'stands alone' : 'suspends'
}

async function suspendPlacer(
  trx: Trx,
  { becauseOfId, endsAt }: { becauseOfId: string; endsAt: Date | null },
  by: ByMember,
): Promise<void> {
  const { actorId, now } = byMember(by)
  const target = { type: 'user', id: actorId } as const
  const subject = orNotFound(await findSubject(trx, by.member, target), 'Subject')
  const reason =
    'Their hold on another person leaves too few who vote: until a second person confirms it, both are suspended'
  const placed = { id: newId(now), target, name: subject.name, deposit: null, reason, endsAt, becauseOfId }
  await insertAnnounced(trx, placed, by)
}

type Placed = {
  id: string
  target: { type: HoldSubjectType; id: string }
  name: string
  deposit: Subject['deposit']
  reason: string
  endsAt: Date | null
  becauseOfId: string | null
}

/** Inserts a hold, mails the users concerned, and signs out a person who has no other vault. */
async function insertAnnounced(trx: Trx, placed: Placed, by: ByMember): Promise<void> {
  const { vaultId, actorId, now } = byMember(by)
  const { id, target, name, deposit, reason, endsAt, becauseOfId } = placed
  const { handedOver, initiatorIds } = await findAffected(trx, vaultId, target)
  const hold = {
    vault_id: vaultId,
    id,
    subject_type: target.type,
    subject_id: target.id,
    origin: 'people',
    reason,
    placed_by_id: actorId,
    handed_over: handedOver,
    ends_at: endsAt,
    because_of_id: becauseOfId,
    created_at: now,
  } as const
  const reserved = await insertReserving(trx, hold, deposit, now)
  const details = {
    ...{ subjectType: target.type, subjectId: target.id, reason, reserved: reserved?.toString() ?? null, handedOver },
    ...(endsAt === null ? {} : { endsAt: endsAt.toISOString() }),
    ...(becauseOfId === null ? {} : { becauseOfId }),
  }
  const after = {
    reason,
    ...(handedOver > 0 ? { 'transfers handed over before': handedOver } : {}),
    ...(endsAt === null ? {} : { 'ends unless a second person confirms it': endsAt.toISOString() }),
  }
  const change = {
    ...{ vaultId, actorId, action: 'hold.placed', targetType: 'hold', targetId: id, details, now },
    words: { sentence: `A hold was placed on the ${target.type} ${name}`, after },
  }
  await announceVaultChange(trx, change, { userIds: initiatorIds })
  if (target.type === 'user' && (await isShutOut(trx, target.id))) await endSessionsOf(trx, target.id, 'hold', now)
}
