import type { ByCaller } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { notFound } from '../../../lib/errors.ts'
import { insertAuditRecords } from '../../record/audit/record.ts'
import { listVaultIdsOf } from '../../rules/policy-groups/memberships.ts'
import { forgetDevicesOf } from './devices.ts'
import { findUser } from './queries.ts'
import { deleteLinksOf } from './sessions.ts'

/**
 * Ends the sessions of a person, except the session `keptId`, and their sign-in links. Forgets their devices, so that the next
 * sign-in from each device is reported by mail. Returns the number of ended sessions. @throws 404
 */
export async function signOutEverywhere(
  trx: Trx,
  { userId, keptId }: { userId: string; keptId: string | null },
  { caller, now }: ByCaller,
): Promise<number> {
  const user = await findUser(trx, 'id', userId)
  if (user === null) throw notFound('User')
  // Links come first: this waits for a link that is redeemed at this moment, so that its new session ends with the others.
  if (user.email !== null) await deleteLinksOf(trx, user.email)
  let ending = trx.deleteFrom('sessions').where('user_id', '=', userId).where('expires_at', '>', now)
  if (keptId !== null) ending = ending.where('id', '<>', keptId)
  const ended = await ending.where('ends_at', '>', now).returning('id').execute()
  await forgetDevicesOf(trx, userId, keptId)
  const vaultIds = await listVaultIdsOf(trx, userId)
  const by = { actorId: caller.userId, now }
  const everywhere = { action: 'user.signed_out_everywhere', targetType: 'user', targetId: userId }
  await insertAuditRecords(trx, { ...by, ...everywhere, details: { sessions: ended.length } }, vaultIds)
  for (const { id: targetId } of ended) {
    const event = { action: 'session.revoked', targetType: 'session', targetId, details: { via: 'everywhere' } }
    await insertAuditRecords(trx, { ...by, ...event }, vaultIds)
  }
  return ended.length
}
