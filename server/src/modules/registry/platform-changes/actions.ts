import { type ByCaller, byPlatform } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { conflict, forbidden } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { audit } from '../../record/audit/record.ts'
import { findPlatformChange, type PlatformChangeRow } from './queries.ts'
import type { PlatformAction } from './schema.ts'

/** The functions that carry out confirmed changes, in the name of the confirming user. @throws the errors of the change */
export type PlatformExecutors = Readonly<
  Record<PlatformAction, (trx: Trx, targetId: string, payload: Record<string, unknown>, by: ByCaller) => Promise<void>>
>

type Requested = { action: PlatformAction; targetId: string; payload: object }

/** Stores a change that waits for another platform administrator. @throws 409 while a change of the same action and target waits */
export async function holdPlatformChange(
  trx: Trx,
  { action, targetId, payload }: Requested,
  by: ByCaller,
): Promise<PlatformChangeRow> {
  const id = newId(by.now)
  await trx
    .insertInto('platform_changes')
    .values({
      id,
      action,
      target_id: targetId,
      payload: JSON.stringify(payload),
      status: 'held',
      created_by_id: by.caller.userId,
      created_at: by.now,
    })
    .execute()
    .catch(onViolation('platform_changes_open', () => conflict('already_exists', 'Such a change already waits')))
  await recordChange(trx, 'held', { id, action, targetId, payload }, by)
  return (await findPlatformChange(trx, id))!
}

/**
 * Confirms a change and carries it out.
 * @throws 403 for the user who requested it, 404, 409 when it was already decided, and the errors of the change
 */
export async function confirmPlatformChange(
  trx: Trx,
  executors: PlatformExecutors,
  id: string,
  by: ByCaller,
): Promise<PlatformChangeRow> {
  const change = orNotFound(await findPlatformChange(trx, id), 'Platform change')
  if (change.created_by_id === by.caller.userId) {
    throw forbidden(
      'other_person_required',
      'Another platform administrator than the one who asked for it must confirm it',
    )
  }
  await decide(trx, change, 'confirmed', by)
  await executors[change.action](trx, change.target_id, change.payload, by)
  return (await findPlatformChange(trx, id))!
}

/** Discards a change. The user who requested it may discard it, too. @throws 404, 409 when it was already decided */
export async function rejectPlatformChange(trx: Trx, id: string, by: ByCaller): Promise<PlatformChangeRow> {
  await decide(trx, orNotFound(await findPlatformChange(trx, id), 'Platform change'), 'rejected', by)
  return (await findPlatformChange(trx, id))!
}

async function decide(
  trx: Trx,
  { id, action, target_id: targetId, payload }: PlatformChangeRow,
  status: 'confirmed' | 'rejected',
  by: ByCaller,
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('platform_changes')
    .set({ status, decided_by_id: by.caller.userId, decided_at: by.now })
    .where('id', '=', id)
    .where('status', '=', 'held')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw conflict('wrong_state', 'The change was already decided')
  await recordChange(trx, status, { id, action, targetId, payload }, by)
}

async function recordChange(
  trx: Trx,
  verb: PlatformChangeRow['status'],
  { id, ...details }: Requested & { id: string },
  by: ByCaller,
): Promise<void> {
  await audit(trx, byPlatform(by), `platform_change.${verb}`, { type: 'platform_change', id }, { ...details })
}
