import type { Insertable } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { onViolation } from '../../../db/transaction.ts'
import type { Holds } from '../../../db/types.ts'
import { conflict } from '../../../lib/errors.ts'

/** @throws 409 when the subject is held already */
export async function insertHold(trx: Trx, hold: Insertable<Holds>): Promise<void> {
  await trx
    .insertInto('holds')
    .values(hold)
    .execute()
    .catch(onViolation('holds_active', () => conflict('already_exists', 'The subject is already held')))
}

/** Inserts the holds on subjects that are new, so that none of them is held already. */
export async function insertHolds(trx: Trx, holds: Insertable<Holds>[]): Promise<void> {
  await insertRows(trx, { holds })
}

/** Sets the amount in base units that an active hold on a deposit reserves. */
export async function setReserved(
  trx: Trx,
  { vaultId, id, reserved }: { vaultId: string; id: string; reserved: bigint },
): Promise<void> {
  await trx
    .updateTable('holds')
    .set({ reserved: reserved.toString() })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .execute()
}

export const alreadyReleased = () => conflict('wrong_state', 'The hold was already released')

/** `releasedById` is null for the service itself. */
type Release = { vaultId: string; id: string; releasedById: string | null; reason: string; now: Date }

/** Releases a hold by compare-and-set. @throws 409 when it was already released */
export async function markReleased(trx: Trx, { vaultId, id, releasedById, reason, now }: Release): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('holds')
    .set({ released_at: now, released_by_id: releasedById, release_reason: reason })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .where('released_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw alreadyReleased()
}

/** Confirms a hold that waits for a second person, by compare-and-set. @throws 409 when it does not wait */
export async function markConfirmed(
  trx: Trx,
  { vaultId, id, confirmedById, now }: { vaultId: string; id: string; confirmedById: string; now: Date },
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('holds')
    .set({ confirmed_by_id: confirmedById, confirmed_at: now })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .where('released_at', 'is', null)
    .where('confirmed_at', 'is', null)
    .where('ends_at', '>', now)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw conflict('wrong_state', 'The hold does not wait for a second person')
}
