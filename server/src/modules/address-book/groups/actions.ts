import type { Static } from 'typebox'
import type { By } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { violates } from '../../../db/transaction.ts'
import { badRequest, conflict, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { changedFields } from '../../record/audit/changed-fields.ts'
import { audit } from '../../record/audit/record.ts'
import { StaleError } from '../../rules/votes/executor.ts'
import { assertLive, type Target } from '../counterparties/actions.ts'
import { lockCounterparty } from '../counterparties/queries.ts'
import { findGroup, lockGroup } from './queries.ts'
import type { CounterpartyGroupCreation, CounterpartyGroupUpdate } from './schema.ts'

type Creation = Static<typeof CounterpartyGroupCreation>
type Update = Static<typeof CounterpartyGroupUpdate>

/** @throws 409 when another group has the code */
export async function insertGroup(trx: Trx, body: Creation, by: By): Promise<string> {
  const id = newId(by.now)
  await trx
    .insertInto('counterparty_groups')
    .values({
      vault_id: by.vaultId,
      id,
      code: body.code,
      name: body.name,
      description: body.description ?? null,
      avatar_uri: body.avatarUri ?? null,
      color: body.color ?? null,
      emoji: body.emoji ?? null,
      created_at: by.now,
      updated_at: by.now,
    })
    .execute()
    .catch((error: unknown) => {
      throw violates(error, 'counterparty_groups_code') ? codeTaken(body.code) : error
    })
  await audit(trx, by, 'counterparty_group.created', groupOf(id), { code: body.code, name: body.name })
  return id
}

/** @throws StaleError, 404, 409 when it is archived */
export async function updateGroup(trx: Trx, target: Target, body: Update, by: By): Promise<void> {
  await lockForChange(trx, target, by)
  const row = (await findGroup(trx, by.vaultId, target.id))!
  await trx
    .updateTable('counterparty_groups')
    .set((value) => ({
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.description === undefined ? {} : { description: body.description }),
      ...(body.avatarUri === undefined ? {} : { avatar_uri: body.avatarUri }),
      ...(body.color === undefined ? {} : { color: body.color }),
      ...(body.emoji === undefined ? {} : { emoji: body.emoji }),
      version: value('version', '+', 1),
      updated_at: by.now,
    }))
    .where('vault_id', '=', by.vaultId)
    .where('id', '=', target.id)
    .execute()
  const { name, description, avatar_uri: avatarUri, color, emoji } = row
  await audit(trx, by, 'counterparty_group.updated', groupOf(target.id), {
    code: row.code,
    changes: changedFields({ name, description, avatarUri, color, emoji }, body),
  })
}

/** @throws StaleError, 404, 409 when it is archived already */
export async function archiveGroup(trx: Trx, target: Target, by: By): Promise<void> {
  await lockForChange(trx, target, by)
  const { code } = await trx
    .updateTable('counterparty_groups')
    .set((value) => ({ archived_at: by.now, version: value('version', '+', 1), updated_at: by.now }))
    .where('vault_id', '=', by.vaultId)
    .where('id', '=', target.id)
    .returning('code')
    .executeTakeFirstOrThrow()
  await audit(trx, by, 'counterparty_group.archived', groupOf(target.id), { code })
}

/**
 * Adds a counterparty to a group. The version of the group stays the same, because its members are not part of it:
 * requests that add several members do not make each other stale.
 *
 * @throws StaleError, 400 for a counterparty that the vault does not have, 404, 409 when either is archived or it is a
 *   member already
 */
export async function addMember(trx: Trx, target: Target, counterpartyId: string, by: By): Promise<void> {
  await lockForChange(trx, target, by, 'share')
  const counterparty = await lockCounterparty(trx, by.vaultId, counterpartyId, 'share')
  if (counterparty === null) throw badRequest('counterpartyId', 'is not a counterparty of this vault')
  assertLive(counterparty)
  await trx
    .insertInto('counterparty_group_memberships')
    .values({ vault_id: by.vaultId, group_id: target.id, counterparty_id: counterpartyId, created_at: by.now })
    .execute()
    .catch((error: unknown) => {
      throw violates(error, 'counterparty_group_memberships_once') ? alreadyMember() : error
    })
  await audit(trx, by, 'counterparty_group.member_added', groupOf(target.id), { counterpartyId })
}

/**
 * Removes a counterparty, archived or not, from a group.
 * @throws StaleError, 404 for the group or the membership, 409 when the group is archived
 */
export async function removeMember(trx: Trx, target: Target, counterpartyId: string, by: By): Promise<void> {
  await lockForChange(trx, target, by, 'share')
  const { numDeletedRows } = await trx
    .deleteFrom('counterparty_group_memberships')
    .where('vault_id', '=', by.vaultId)
    .where('group_id', '=', target.id)
    .where('counterparty_id', '=', counterpartyId)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('Membership')
  await audit(trx, by, 'counterparty_group.member_removed', groupOf(target.id), { counterpartyId })
}

/** @throws 409 for an archived group, which can no longer be changed */
export function assertGroupLive(row: { archived_at: Date | null }): void {
  if (row.archived_at !== null) throw conflict('The counterparty group is archived')
}

export const codeTaken = (code: string) => conflict(`The vault has a counterparty group with the code ${code} already`)
export const alreadyMember = () => conflict('The counterparty is in the group already')

async function lockForChange(
  trx: Trx,
  { id, baseVersion }: Target,
  { vaultId }: By,
  strength: 'update' | 'share' = 'update',
): Promise<void> {
  const locked = await lockGroup(trx, vaultId, id, strength)
  if (locked === null) throw notFound('Counterparty group')
  if (baseVersion !== null && baseVersion !== String(locked.version)) {
    throw new StaleError('The counterparty group was changed meanwhile')
  }
  assertGroupLive(locked)
}

const groupOf = (id: string) => ({ type: 'counterparty_group', id })
