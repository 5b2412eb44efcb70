import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { ByCaller, ByMember } from '../../../access/caller.ts'
import { administratorsCode, auditorsCode, everyoneCode } from '../../../access/memberships.ts'
import { profileOfUser } from '../../../access/profile.ts'
import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { conflict, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { changedFields } from '../../record/audit/record.ts'
import { announceVaultChange, nameSubjects, quote, type VaultChange } from '../../record/notifications/announce.ts'
import { warnOfLostQuorum } from '../votes/lost-quorum.ts'
import { type GroupRow, hasOtherActivePerson, lockGroup, lockGroupsOf, type MembershipRow } from './queries.ts'
import type { CreatePolicyGroup, UpdatePolicyGroup } from './schema.ts'
import { groupUses } from './uses.ts'

/** @throws 409 when the vault has a group of that code */
export async function createPolicyGroup(
  trx: Trx,
  fields: Static<typeof CreatePolicyGroup>,
  { member, now }: ByMember,
): Promise<GroupRow> {
  const vaultId = member.vault.id
  const id = newId(now)
  const group = { ...noLooks, ...fields }
  await trx
    .insertInto('policy_groups')
    .values({ vault_id: vaultId, id, ...columnsOf(group), created_at: now, updated_at: now })
    .execute()
    .catch(onTakenCode)
  const by = { caller: member, now }
  await announce(trx, { vaultId, id }, by, {
    action: 'policy_group.created',
    details: { after: group },
    words: { sentence: `The group ${quote(group.name)} was created`, after: { code: group.code } },
  })
  return { ...group, vaultId, id, isSystem: false, createdAt: now, updatedAt: now, policies: [], memberships: [] }
}

const noLooks = { description: null, logoUri: null, color: null, emoji: null }

/** @throws 404, 403, 409 for the code of a system group, or a code that is taken */
export async function updatePolicyGroup(
  trx: Trx,
  id: string,
  patch: Static<typeof UpdatePolicyGroup>,
  by: ByCaller,
): Promise<GroupRow> {
  const group = await lockGroup(trx, id, by.caller.userId)
  const changes = changedFields(group, patch)
  if (changes === null) return group
  if (group.isSystem && changes.after.code !== undefined) {
    throw conflict('system_object', 'The code of a system group cannot be changed')
  }
  const updated = { ...group, ...patch, updatedAt: by.now }
  await trx
    .updateTable('policy_groups')
    .set({ ...columnsOf(updated), updated_at: by.now })
    .where('vault_id', '=', group.vaultId)
    .where('id', '=', id)
    .execute()
    .catch(onTakenCode)
  await announce(trx, group, by, {
    action: 'policy_group.updated',
    details: changes,
    words: { sentence: `The group ${quote(group.name)} was updated`, ...changes },
  })
  return updated
}

/** Deletes a group with its memberships. @throws 404, 403, 409 for a system group, or one that rules depend on */
export async function deletePolicyGroup(trx: Trx, id: string, by: ByCaller): Promise<void> {
  const group = await lockGroup(trx, id, by.caller.userId)
  if (group.isSystem) throw conflict('system_object', 'A system group cannot be deleted')
  const uses = await groupUses(trx, group)
  if (uses.hasPolicies) throw conflict('in_use', 'The group has policies; delete them first')
  if (uses.isApprover)
    throw conflict('in_use', 'The group approves for policies or categories; name other approvers first')
  if (uses.isOfGovernance)
    throw conflict('in_use', 'The group votes on changes of the rules; name another group for the governance first')
  if (uses.isSelected) throw conflict('in_use', 'A rule of a policy names the group; change it first')
  await trx.deleteFrom('policy_groups').where('vault_id', '=', group.vaultId).where('id', '=', id).execute()
  const { vaultId, code, name, memberships } = group
  const userIds = memberships.map(({ userId }) => userId)
  const nameOf = await nameSubjects(trx, vaultId, userIds)
  await announce(trx, group, by, {
    action: 'policy_group.deleted',
    details: { before: { code, name, userIds } },
    words: { sentence: `The group ${quote(name)} was deleted`, before: { code, members: userIds.map(nameOf) } },
    userIds,
  })
  await warnOfLostQuorum(trx, { userIds, vaultIds: [vaultId] }, by.now)
}

/** @throws 404, 403, 409 for `everyone`, which stores no members, and for someone who is in the group already */
export async function addMember(
  trx: Trx,
  { groupId, userId }: { groupId: string; userId: string },
  { caller, now }: ByCaller,
): Promise<MembershipRow> {
  const group = await lockGroup(trx, groupId, caller.userId)
  if (isSystem(group, everyoneCode))
    throw conflict('system_object', 'Everyone in the vault is already in this group; it stores no members')
  const id = newId(now)
  const inserted = await trx
    .insertInto('policy_group_memberships')
    .values({ vault_id: group.vaultId, id, group_id: groupId, user_id: userId, created_at: now })
    .onConflict((duplicate) => duplicate.columns(['vault_id', 'group_id', 'user_id']).doNothing())
    .returning(profileOfUser(sql.ref('policy_group_memberships.user_id')).as('user'))
    .executeTakeFirst()
  if (inserted === undefined) throw conflict('already_exists', 'This user is already in the group')
  await announceMembership(trx, 'added', group, userId, { caller, now })
  // Auditors do not vote, even if they are in another group.
  if (isSystem(group, auditorsCode)) await warnOfLostQuorum(trx, { userIds: [userId], vaultIds: [group.vaultId] }, now)
  return { id, groupId, userId, user: inserted.user, createdAt: now }
}

/**
 * Removes a user from a group, which takes effect with their next request.
 * @throws 404, 403, 409 when no administrator of the vault who can act would remain
 */
export async function removeMember(
  trx: Trx,
  { groupId, userId }: { groupId: string; userId: string },
  { caller, now }: ByCaller,
): Promise<void> {
  // The lock serialises removals, so that two concurrent removals cannot remove the last two administrators.
  const group = await lockGroup(trx, groupId, caller.userId)
  if (!group.memberships.some((membership) => membership.userId === userId)) throw notFound('Membership')
  await assertNotLast(trx, group.vaultId, group, userId)
  await trx
    .deleteFrom('policy_group_memberships')
    .where('vault_id', '=', group.vaultId)
    .where('group_id', '=', groupId)
    .where('user_id', '=', userId)
    .execute()
  await announceMembership(trx, 'removed', group, userId, { caller, now })
  await warnOfLostQuorum(trx, { userIds: [userId], vaultIds: [group.vaultId] }, now)
}

/**
 * Removes a user from all groups of the vault at once, which ends their membership with their next request.
 * @throws 404 for a user who is in no group of it, 409 when no administrator who can act would remain
 */
export async function removeFromVault(trx: Trx, userId: string, { member, now }: ByMember): Promise<void> {
  const vaultId = member.vault.id
  const groups = await lockGroupsOf(trx, vaultId, userId)
  if (groups.length === 0) throw notFound('Member')
  for (const group of groups) await assertNotLast(trx, vaultId, group, userId)
  await trx
    .deleteFrom('policy_group_memberships')
    .where('vault_id', '=', vaultId)
    .where('user_id', '=', userId)
    .execute()
  const nameOf = await nameSubjects(trx, vaultId, [userId])
  const change = {
    vaultId,
    actorId: member.userId,
    action: 'member.removed',
    targetType: 'user',
    targetId: userId,
    details: { groupCodes: groups.map(({ code }) => code), groupIds: groups.map(({ id }) => id) },
    words: {
      sentence: `${quote(nameOf(userId))} was removed from the vault`,
      before: { groups: groups.map(({ name }) => name) },
    },
    now,
  }
  await announceVaultChange(trx, change, { userIds: [userId], groupIds: groups.map(({ id }) => id) })
  await warnOfLostQuorum(trx, { userIds: [userId], vaultIds: [vaultId] }, now)
}

/** @throws 409 when no person who can sign in and is not held would remain in the group of the administrators */
async function assertNotLast(trx: Trx, vaultId: string, group: SystemGroup & { id: string }, userId: string) {
  if (!isSystem(group, administratorsCode) || (await hasOtherActivePerson(trx, { vaultId, id: group.id }, userId)))
    return
  throw conflict('last_administrator', 'The last administrator of the vault cannot be removed')
}

type SystemGroup = Pick<GroupRow, 'isSystem' | 'code'>
const isSystem = ({ isSystem, code }: SystemGroup, systemCode: string): boolean => isSystem && code === systemCode

const onTakenCode = onViolation('policy_groups_vault_id_code_key', () =>
  conflict('already_exists', 'The vault already has a group with this code'),
)

function columnsOf({
  code,
  name,
  description,
  logoUri,
  color,
  emoji,
}: Pick<GroupRow, 'code' | 'name' | keyof typeof noLooks>) {
  return { code, name, description, logo_uri: logoUri, color, emoji }
}

type Verb = 'added' | 'removed'

async function announceMembership(trx: Trx, verb: Verb, group: GroupRow, userId: string, by: ByCaller): Promise<void> {
  const nameOf = await nameSubjects(trx, group.vaultId, [userId])
  const preposition = verb === 'added' ? 'to' : 'from'
  await announce(trx, group, by, {
    action: `membership.${verb}`,
    details: { groupCode: group.code, userId },
    words: { sentence: `${quote(nameOf(userId))} was ${verb} ${preposition} the group ${quote(group.name)}` },
    userIds: [userId],
  })
}

type Change = Pick<VaultChange, 'action' | 'details' | 'words'> & {
  /** The members until now, if they differ from the members after the change. */
  userIds?: string[]
}

/** Announces a change of a group, also to the voters of the group. */
async function announce(
  trx: Trx,
  { vaultId, id }: Pick<GroupRow, 'vaultId' | 'id'>,
  { caller, now }: ByCaller,
  { userIds = [], ...change }: Change,
): Promise<void> {
  const event = { ...change, vaultId, actorId: caller.userId, targetType: 'policy_group', targetId: id, now }
  await announceVaultChange(trx, event, { userIds, groupIds: [id] })
}

/** Inserts the built-in groups of a new vault; the creator is the first administrator. */
export async function insertSystemGroups(
  trx: Trx,
  { vaultId, creatorId, now }: { vaultId: string; creatorId: string; now: Date },
): Promise<void> {
  const administratorsId = newId(now)
  const common = { vault_id: vaultId, is_system: true, created_at: now, updated_at: now }
  await trx
    .insertInto('policy_groups')
    .values([
      { ...common, id: administratorsId, code: administratorsCode, name: 'Administrators' },
      { ...common, id: newId(now), code: auditorsCode, name: 'Auditors' },
      { ...common, id: newId(now), code: everyoneCode, name: 'Everyone' },
    ])
    .execute()
  await trx
    .insertInto('policy_group_memberships')
    .values({ vault_id: vaultId, id: newId(now), group_id: administratorsId, user_id: creatorId, created_at: now })
    .execute()
}
