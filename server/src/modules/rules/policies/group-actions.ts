import type { Static } from 'typebox'
import { administratorsCode, everyoneCode } from '../../../access/system-groups.ts'
import type { Trx } from '../../../db/client.ts'
import { violates } from '../../../db/transaction.ts'
import { conflict, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { changedFields } from '../../record/audit/changed-fields.ts'
import { announceVaultChange, type VaultChange } from '../../record/notifications/announce.ts'
import { quote } from '../../record/notifications/describe-change.ts'
import { nameSubjects } from '../../record/notifications/names.ts'
import {
  findGroup,
  type GroupRow,
  groupUses,
  hasOtherActiveMember,
  lockForAdministrator,
  type MembershipRow,
} from './queries.ts'
import type { CreatePolicyGroup, UpdatePolicyGroup } from './schema.ts'
import { assertWritable } from './standing.ts'

const noun = 'Policy group'

/** @throws 409 when the vault has a group of that code */
export async function createPolicyGroup(
  trx: Trx,
  order: { vaultId: string; actorId: string; fields: Static<typeof CreatePolicyGroup>; now: Date },
): Promise<GroupRow> {
  const { vaultId, actorId, fields, now } = order
  const id = newId(now)
  const group = { ...noLooks, ...fields }
  await onTakenCode(
    trx
      .insertInto('policy_groups')
      .values({
        vault_id: vaultId,
        id,
        code: group.code,
        name: group.name,
        description: group.description,
        logo_uri: group.logoUri,
        color: group.color,
        emoji: group.emoji,
        created_at: now,
        updated_at: now,
      })
      .execute(),
  )
  await record(trx, {
    vaultId,
    actorId,
    action: 'policy_group.created',
    groupId: id,
    details: { after: group },
    words: { sentence: `The group ${quote(group.name)} was created`, after: { code: group.code } },
    now,
  })
  return {
    ...group,
    vaultId,
    id,
    isSystem: false,
    createdAt: now,
    updatedAt: now,
    policies: [],
    memberships: [],
  }
}

const noLooks = { description: null, logoUri: null, color: null, emoji: null }

/** @throws 409 for the code of a system group, or a code that is taken */
export async function updatePolicyGroup(
  trx: Trx,
  order: { id: string; actorId: string; patch: Static<typeof UpdatePolicyGroup>; now: Date },
): Promise<GroupRow> {
  const { id, actorId, patch, now } = order
  const group = await getGroupToWrite(trx, id, actorId)
  const changes = changedFields(group, patch)
  if (changes === null) return group
  if (group.isSystem && changes.after.code !== undefined) {
    throw conflict('The code of a system group cannot be changed')
  }
  const updated = { ...group, ...patch, updatedAt: now }
  await onTakenCode(
    trx
      .updateTable('policy_groups')
      .set({
        code: updated.code,
        name: updated.name,
        description: updated.description,
        logo_uri: updated.logoUri,
        color: updated.color,
        emoji: updated.emoji,
        updated_at: now,
      })
      .where('vault_id', '=', group.vaultId)
      .where('id', '=', id)
      .execute(),
  )
  const { vaultId } = group
  await record(trx, {
    vaultId,
    actorId,
    action: 'policy_group.updated',
    groupId: id,
    details: changes,
    words: { sentence: `The group ${quote(group.name)} was updated`, ...changes },
    now,
  })
  return updated
}

/** Deletes a group with its memberships. @throws 409 for a system group, or one that policies depend on */
export async function deletePolicyGroup(trx: Trx, order: { id: string; actorId: string; now: Date }): Promise<void> {
  const { id, actorId, now } = order
  const group = await getGroupToWrite(trx, id, actorId)
  if (group.isSystem) throw conflict('A system group cannot be deleted')
  const uses = await groupUses(trx, group)
  if (uses.hasPolicies) throw conflict('The group has policies; delete them first')
  if (uses.isApprover) throw conflict('The group approves for policies or categories; name other approvers first')
  if (uses.isSelected) throw conflict('A rule of a policy names the group; change it first')
  await trx.deleteFrom('policy_groups').where('vault_id', '=', group.vaultId).where('id', '=', id).execute()
  const { vaultId, code, name, memberships } = group
  const userIds = memberships.map(({ userId }) => userId)
  const nameOf = await nameSubjects(trx, vaultId, userIds)
  await record(trx, {
    vaultId,
    actorId,
    action: 'policy_group.deleted',
    groupId: id,
    details: { before: { code, name, userIds } },
    words: {
      sentence: `The group ${quote(name)} was deleted`,
      before: { code, members: userIds.map(nameOf) },
    },
    userIds,
    now,
  })
}

/** @throws 409 for `everyone`, which stores no members, and for someone who is in the group already */
export async function addMember(
  trx: Trx,
  order: { groupId: string; actorId: string; userId: string; now: Date },
): Promise<MembershipRow> {
  const { groupId, actorId, userId, now } = order
  const group = await getGroupToWrite(trx, groupId, actorId)
  if (isEveryone(group)) throw conflict('Everyone in the vault is in this group already; it stores no members')
  const { vaultId } = group
  const membership = { id: newId(now), groupId, userId, createdAt: now }
  const inserted = await trx
    .insertInto('policy_group_memberships')
    .values({ vault_id: vaultId, id: membership.id, group_id: groupId, user_id: userId, created_at: now })
    .onConflict((duplicate) => duplicate.columns(['vault_id', 'group_id', 'user_id']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (inserted === undefined) throw conflict('This user is in the group already')
  await recordMembership(trx, 'added', group, { actorId, userId, now })
  return membership
}

/**
 * Takes a user out of a group; it counts from their next request on.
 * @throws 409 when nobody who can sign in would be left to administer the vault
 */
export async function removeMember(
  trx: Trx,
  order: { groupId: string; actorId: string; userId: string; now: Date },
): Promise<void> {
  const { groupId, actorId, userId, now } = order
  // The lock makes removals of two administrators wait for each other, so that they cannot both be the last but one.
  const group = await getGroupToWrite(trx, groupId, actorId)
  const { vaultId } = group
  if (!group.memberships.some((membership) => membership.userId === userId)) throw notFound('Membership')
  if (isAdministrators(group) && !(await hasOtherActiveMember(trx, group, userId))) {
    throw conflict('The last administrator of the vault cannot be removed')
  }
  await trx
    .deleteFrom('policy_group_memberships')
    .where('vault_id', '=', vaultId)
    .where('group_id', '=', groupId)
    .where('user_id', '=', userId)
    .execute()
  await recordMembership(trx, 'removed', group, { actorId, userId, now })
}

async function getGroupToWrite(trx: Trx, id: string, actorId: string): Promise<GroupRow> {
  await lockForAdministrator(trx, 'policy_groups', id, actorId)
  return assertWritable(await findGroup(trx, id, actorId), noun)
}

function isEveryone({ isSystem, code }: GroupRow): boolean {
  return isSystem && code === everyoneCode
}

function isAdministrators({ isSystem, code }: GroupRow): boolean {
  return isSystem && code === administratorsCode
}

async function onTakenCode<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (violates(error, 'policy_groups_vault_id_code_key')) throw conflict('The vault has a group of this code already')
    throw error
  }
}

async function recordMembership(
  trx: Trx,
  verb: 'added' | 'removed',
  group: GroupRow,
  { actorId, userId, now }: { actorId: string; userId: string; now: Date },
): Promise<void> {
  const nameOf = await nameSubjects(trx, group.vaultId, [userId])
  const preposition = verb === 'added' ? 'to' : 'from'
  await record(trx, {
    vaultId: group.vaultId,
    actorId,
    action: `membership.${verb}`,
    groupId: group.id,
    details: { groupCode: group.code, userId },
    words: { sentence: `${quote(nameOf(userId))} was ${verb} ${preposition} the group ${quote(group.name)}` },
    userIds: [userId],
    now,
  })
}

type GroupEvent = Omit<VaultChange, 'targetType' | 'targetId'> & {
  groupId: string
  /** Who was in the group until now, where that is not who is in it from now on. */
  userIds?: string[]
}

/** Everybody who votes as a member of the group is told who else does. */
async function record(trx: Trx, { groupId, userIds = [], ...event }: GroupEvent): Promise<void> {
  const audience = { userIds, groupIds: [groupId] }
  await announceVaultChange(trx, { ...event, targetType: 'policy_group', targetId: groupId }, audience)
}
