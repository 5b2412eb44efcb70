import { sql } from 'kysely'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { conflict, forbidden } from '../../../lib/errors.ts'
import { holdConfirmationHours, holdRepetitionDays } from '../../../lib/limits.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { assertPerson } from '../../rules/decisions/dual-control.ts'
import { lockForPlacing } from '../../rules/holds/active.ts'
import { markConfirmed } from '../../rules/holds/hold-rows.ts'
import { assertMayPlace } from './may-place.ts'
import { findHold, lockActiveHold } from './queries.ts'
import { endWithCompanion } from './release.ts'

/** A hold on a person, which one person places and a second person confirms. */
type OnPerson = { vaultId: string; subjectId: string; placerId: string; now: Date }

/** Returns true if the user is a person and not a service. */
export async function isPerson(trx: Trx, userId: string): Promise<boolean> {
  const { rows } = await sql<{ kind: string }>`select kind from users where id = ${userId}`.execute(trx)
  return rows[0]?.kind === 'person'
}

/**
 * Prevents one person from holding another repeatedly: when the hold of a placer ended without a second person, somebody else
 * must place the next one.
 * @throws 403
 */
export async function assertNotRepeated(trx: Trx, { vaultId, subjectId, placerId, now }: OnPerson): Promise<void> {
  const since = new Date(now.getTime() - holdRepetitionDays * 86_400_000)
  const { rows } = await sql`
    select from holds h where h.vault_id = ${vaultId} and h.subject_type = 'user' and h.subject_id = ${subjectId}
      and h.placed_by_id = ${placerId} and h.because_of_id is null and h.ends_at is not null and h.confirmed_at is null
      and h.released_at is not null and h.released_by_id is null and h.created_at > ${since} limit 1`.execute(trx)
  if (rows.length === 0) return
  const message =
    'Your last hold on this person ended, because nobody confirmed it: somebody else must place the next one'
  throw forbidden('other_person_required', message)
}

/** Returns the time when a hold on a person ends unless a second person confirms it. */
export const endOfHold = (now: Date): Date => new Date(now.getTime() + holdConfirmationHours * 3_600_000)

/**
 * Confirms a hold on a person, by a second person, so that it lasts until it is released, and ends the suspension of the person
 * who placed it.
 * @throws 403 for the placer, for a service and for members who may not place holds, 404, 409
 */
export async function confirmHold(trx: Trx, id: string, by: ByMember): Promise<void> {
  const { vaultId, actorId, now } = byMember(by)
  assertPerson(by.member)
  await assertMayPlace(trx, by.member, now)
  await lockForPlacing(trx, vaultId)
  const hold = orNotFound(await findHold(trx, by.member, id), 'Hold')
  if (hold.placedById === actorId)
    throw forbidden('other_person_required', 'Another person than the one who placed a hold must confirm it')
  if (hold.becauseOfId !== null)
    throw conflict('wrong_state', 'The suspension of a person who placed a hold cannot be confirmed')
  await markConfirmed(trx, { vaultId, id, confirmedById: actorId, now })
  const { subjectId, subjectName, reason } = hold
  await announceVaultChange(
    trx,
    {
      ...{ vaultId, actorId, now },
      action: 'hold.confirmed',
      targetType: 'hold',
      targetId: id,
      details: { subjectId, reason },
      words: {
        sentence: `The hold on the user ${subjectName} was confirmed, and ends only by its release`,
        after: { reason },
      },
    },
    { userIds: hold.placedById === null ? [subjectId] : [subjectId, hold.placedById] },
  )
  await endWithCompanion(
    trx,
    { vaultId, id, isItself: false },
    { releasedById: actorId, reason: 'A second person confirmed the hold', now },
  )
}

const batchMax = 20

/**
 * Ends the holds on people that were not confirmed in time, batch after batch. A hold that cannot be ended is logged and tried again
 * with the next run, and the others end.
 */
export async function endUnconfirmedHolds({ db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>): Promise<void> {
  const now = clock()
  let after: DueHold | null = null
  for (;;) {
    const batch: DueHold[] = await listUnconfirmed(db, now, after)
    for (const { vaultId, id } of batch) {
      await inTransaction(db, (trx) => endUnconfirmed(trx, { vaultId, id, now })).catch((error: unknown) => {
        log.error({ err: error, vaultId, holdId: id }, 'an unconfirmed hold could not be ended')
      })
    }
    after = batch.at(-1) ?? null
    if (batch.length < batchMax) return
  }
}

async function endUnconfirmed(
  trx: Trx,
  { vaultId, id, now }: { vaultId: string; id: string; now: Date },
): Promise<void> {
  await lockForPlacing(trx, vaultId)
  const hold = await lockActiveHold(trx, vaultId, id)
  if (hold === null || hold.confirmed_at !== null || hold.ends_at === null || hold.ends_at > now) return
  const reason = `Nobody confirmed the hold within ${holdConfirmationHours} hours`
  await endWithCompanion(trx, { vaultId, id, isItself: true }, { releasedById: null, reason, now })
}

type DueHold = { vaultId: string; id: string; endsAt: Date }

/** Returns the next holds that are due, in the order in which they end. */
async function listUnconfirmed(db: Db, now: Date, after: DueHold | null): Promise<DueHold[]> {
  const { rows } = await sql<DueHold>`
    select vault_id as "vaultId", id, ends_at as "endsAt" from holds
    where released_at is null and confirmed_at is null and ends_at is not null and ends_at <= ${now}
      ${after === null ? sql`` : sql`and (ends_at, vault_id, id) > (${after.endsAt}, ${after.vaultId}, ${after.id})`}
    order by ends_at, vault_id, id limit ${batchMax}`.execute(db)
  return rows
}
