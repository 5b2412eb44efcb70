import type { ByCaller } from '../../../access/caller.ts'
import { readsOnly } from '../../../access/refusals.ts'
import type { Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { onViolation } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { badRequest, conflict, forbidden, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { newSecret, sha256 } from '../../../lib/secrets.ts'
import { enqueueMail } from '../../../mail/queue.ts'
import { audit } from '../../record/audit/record.ts'
import { announceVaultChange, nameSubjects, quote } from '../../record/notifications/announce.ts'
import { insertMemberships } from '../../rules/policy-groups/memberships.ts'
import { publishing } from '../../rules/rules-versions/versions.ts'
import { findInvitation, type InvitationRow, listInvitableGroups } from './queries.ts'
import type { CreateInvitation } from './schema.ts'
import { placeOfToken } from './token.ts'

/**
 * Invites an e-mail address into groups of one vault and has the invitation mailed.
 * @throws 404 for a group the caller cannot see, 400 for groups of several vaults or `everyone`, 403 for a
 *   caller who does not administer the vault, 409 while an invitation of this e-mail to the vault is pending
 */
export async function createInvitation(
  trx: Trx,
  deps: Deps,
  { email: address, groupIds }: CreateInvitation,
  { caller, now }: ByCaller,
): Promise<{ row: InvitationRow; token: string }> {
  const email = address.toLowerCase()
  const vaultId = await getInvitingVaultId(trx, caller.userId, groupIds)
  const id = newId(now)
  const token = newSecret()
  await trx
    .insertInto('invitations')
    .values({
      vault_id: vaultId,
      id,
      email,
      token_hash: sha256(token),
      token_sealed: deps.sealer.seal(placeOfToken(vaultId, id), token),
      created_by_id: caller.userId,
      created_at: now,
      updated_at: now,
    })
    .execute()
    .catch(
      onViolation('invitations_pending', () =>
        conflict('already_exists', 'An invitation of this e-mail address to the vault is already pending'),
      ),
    )
  const ofInvitation = { vault_id: vaultId, invitation_id: id, created_at: now }
  const groups = groupIds.map((groupId) => ({ ...ofInvitation, id: newId(now), group_id: groupId }))
  await insertRows(trx, { invitation_groups: groups })
  const nameOf = await nameSubjects(trx, vaultId, groupIds)
  const change = {
    vaultId,
    actorId: caller.userId,
    action: 'invitation.created',
    targetType: 'invitation',
    targetId: id,
    details: { email, groupIds },
    words: { sentence: `${quote(email)} was invited`, after: { groups: groupIds.map(nameOf) } },
    now,
  }
  await announceVaultChange(trx, change, { groupIds })
  await enqueueMail(trx, { kind: 'invitation', vaultId, invitationId: id }, now)
  return { row: (await findInvitation(trx, caller.userId, id))!, token }
}

async function getInvitingVaultId(trx: Trx, callerId: string, groupIds: string[]): Promise<string> {
  const groups = (await listInvitableGroups(trx, callerId, groupIds)).filter((group) => group.isMember)
  const first = groups[0]
  if (first === undefined || groups.length < groupIds.length) throw notFound('Policy group')
  if (groups.some((group) => group.vaultId !== first.vaultId)) {
    throw badRequest('groupIds', 'must be groups of one vault')
  }
  if (first.isAuditor) throw readsOnly()
  if (!first.isAdmin) throw forbidden('administrator_required', 'Only administrators of the vault may invite')
  if (groups.some((group) => group.isEveryone)) {
    throw badRequest('groupIds', 'must not contain the group everyone, which every member is in')
  }
  return first.vaultId
}

/**
 * Revokes a pending invitation. If a revocation and an acceptance happen at the same time, the first one wins: each
 * changes the status only from pending.
 * @throws 404 for a caller who does not administer the vault, 409 when it is no longer pending
 */
export async function revokeInvitation(trx: Trx, id: string, { caller, now }: ByCaller): Promise<InvitationRow> {
  const found = orNotFound(await findInvitation(trx, caller.userId, id), 'Invitation')
  const { numUpdatedRows } = await trx
    .updateTable('invitations')
    .set({ status: 'revoked', revoked_at: now, updated_at: now })
    .where('vault_id', '=', found.vault_id)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .executeTakeFirst()
  const row = (await findInvitation(trx, caller.userId, id))!
  if (numUpdatedRows === 0n) throw conflict('wrong_state', `The invitation is already ${row.status}`)
  const by = { vaultId: row.vault_id, actorId: caller.userId, now }
  await audit(trx, by, 'invitation.revoked', { type: 'invitation', id }, { email: row.email })
  return row
}

/**
 * Locks the pending invitations of an e-mail address until the transaction ends, so that they cannot be revoked
 * meanwhile. Returns their number.
 */
export async function lockPendingInvitations(trx: Trx, email: string): Promise<number> {
  const rows = await trx
    .selectFrom('invitations')
    .select('id')
    .where('email', '=', email)
    .where('status', '=', 'pending')
    .orderBy('vault_id')
    .orderBy('id')
    .forUpdate()
    .execute()
  return rows.length
}

/** Accepts every pending invitation of the e-mail address for its user, who joins the groups of the invitations. */
export async function acceptInvitations(trx: Trx, email: string, userId: string, now: Date): Promise<void> {
  const pending = await trx
    .selectFrom('invitations')
    .select(['vault_id', 'id'])
    .where('email', '=', email)
    .where('status', '=', 'pending')
    .orderBy('vault_id')
    .execute()
  for (const { vault_id: vaultId, id } of pending) {
    // The inviter has decided about the membership. The new membership is still a new version of the rules.
    await publishing(trx, vaultId, { actorId: userId, now }, () =>
      acceptInvitation(trx, { vaultId, id, email }, { userId, now }),
    )
  }
}

async function acceptInvitation(
  trx: Trx,
  { vaultId, id, email }: { vaultId: string; id: string; email: string },
  { userId, now }: { userId: string; now: Date },
): Promise<void> {
  await trx
    .updateTable('invitations')
    .set({ status: 'accepted', accepted_at: now, accepted_user_id: userId, updated_at: now })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .execute()
  const groups = await trx
    .selectFrom('invitation_groups')
    .select('group_id')
    .where('vault_id', '=', vaultId)
    .where('invitation_id', '=', id)
    .orderBy('id')
    .execute()
  const groupIds = groups.map((group) => group.group_id)
  await insertMemberships(trx, { vaultId, groupIds, userId, now })
  const target = { type: 'invitation', id }
  await audit(trx, { vaultId, actorId: userId, now }, 'invitation.accepted', target, { email, groupIds })
}
