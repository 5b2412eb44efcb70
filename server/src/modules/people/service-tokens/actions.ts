import { type ByMember, byMember } from '../../../access/caller.ts'
import { scopes as everyScope } from '../../../access/scopes.ts'
import type { Trx } from '../../../db/client.ts'
import { badRequest, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { isNetwork } from '../../../lib/networks.ts'
import { announceVaultChange, nameSubjects, quote } from '../../record/notifications/announce.ts'
import { insertMemberships } from '../../rules/policy-groups/memberships.ts'
import { warnOfLostQuorum } from '../../rules/votes/lost-quorum.ts'
import { listGroupsOf } from '../members/queries.ts'
import { disableUser, insertServiceUser } from '../users/actions.ts'
import { findService } from './keys.ts'
import { listGroupsOfVault, type ServiceTokenRow, serviceTokenColumns } from './queries.ts'
import type { CreateServiceToken } from './schema.ts'

/**
 * Creates a service: a user in the groups of the request, and the digest of the token with which the service acts.
 * @throws 400 for a past expiry, text that is not a network, or the group `everyone`, 404 for a group that the vault does not have
 */
export async function createServiceToken(
  trx: Trx,
  { name, groupIds, expiresAt = null, networks = null, scopes = [...everyScope] }: CreateServiceToken,
  by: ByMember,
  tokenHash: Buffer,
): Promise<{ row: ServiceTokenRow }> {
  const { member, now } = by
  if (expiresAt !== null && new Date(expiresAt) <= now) throw badRequest('expiresAt', 'must lie in the future')
  const strange = networks?.find((network) => !isNetwork(network))
  if (strange !== undefined)
    throw badRequest('networks', `must hold networks such as 203.0.113.0/24, and not ${quote(strange)}`)
  const vaultId = member.vault.id
  const groups = await listGroupsOfVault(trx, vaultId, groupIds)
  if (groups.length < groupIds.length) throw notFound('Policy group')
  if (groups.some((group) => group.is_everyone)) {
    throw badRequest('groupIds', 'must not contain the group everyone, which every member is in')
  }

  const userId = await insertServiceUser(trx, name, now)
  await insertMemberships(trx, { vaultId, groupIds, userId, now })
  const row = await trx
    .insertInto('service_tokens')
    .values({
      vault_id: vaultId,
      id: newId(now),
      user_id: userId,
      name,
      token_hash: tokenHash,
      created_by_id: member.userId,
      created_at: now,
      expires_at: expiresAt,
      networks,
      scopes,
    })
    .returning(serviceTokenColumns)
    .executeTakeFirstOrThrow()
  const details = { name, userId, groupIds, expiresAt: row.expires_at?.toISOString() ?? null, networks, scopes }
  await announceServiceToken(trx, { verb: 'created', id: row.id, name, details, groups }, by)
  return { row }
}

/**
 * Revokes a service token and disables its user at once. For a revoked token it changes nothing.
 * @throws 404 when the vault has no such token
 */
export async function revokeServiceToken(trx: Trx, id: string, by: ByMember): Promise<void> {
  const { member, now } = by
  const vaultId = member.vault.id
  const revoked = await trx
    .updateTable('service_tokens')
    .set({ revoked_at: now })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning(['user_id', 'name'])
    .executeTakeFirst()
  if (revoked === undefined) {
    await findService(trx, vaultId, id)
    return
  }
  await disableUser(trx, revoked.user_id, now)
  const { name, user_id: userId } = revoked
  const groups = await listGroupsOf(trx, vaultId, userId)
  await announceServiceToken(trx, { verb: 'revoked', id, name, details: { name, userId }, groups }, by)
  await warnOfLostQuorum(trx, { userIds: [userId], vaultIds: [vaultId] }, now)
}

type ServiceTokenEvent = {
  verb: 'created' | 'revoked'
  id: string
  name: string
  details: Record<string, unknown>
  /** The groups of which the service becomes, or was, a member. */
  groups: { id: string }[]
}

async function announceServiceToken(
  trx: Trx,
  { verb, id, name, details, groups }: ServiceTokenEvent,
  by: ByMember,
): Promise<void> {
  const groupIds = groups.map((group) => group.id)
  const nameOf = await nameSubjects(trx, by.member.vault.id, groupIds)
  const change = {
    ...byMember(by),
    action: `service_token.${verb}`,
    targetType: 'service_token',
    targetId: id,
    details,
    words: {
      sentence: `The service token ${quote(name)} was ${verb}`,
      after: {
        groups: groupIds.map(nameOf),
        expiresAt: details.expiresAt,
        networks: details.networks,
        scopes: details.scopes,
      },
    },
  }
  await announceVaultChange(trx, change, { groupIds })
}
