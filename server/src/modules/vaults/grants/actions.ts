import { sql } from 'kysely'
import type { Static } from 'typebox'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import { type ByMember, byMember, type Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { badRequest, forbidden, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { audit } from '../../record/audit/record.ts'
import { announceVaultChange, nameSubjects, quote } from '../../record/notifications/announce.ts'
import { listMembersAmong, lockExistingGroups } from '../../rules/policy-groups/memberships.ts'
import { findAddress } from '../addresses/queries.ts'
import { findGrant, type GrantRow, grantsOn, type Shared } from './queries.ts'
import type { GrantCreation } from './schema.ts'

/** @throws 404 for an address that the member may not see, 403 for one of another owner; 400 as `grantAccess` */
export async function shareAddress(
  trx: Trx,
  id: string,
  body: Static<typeof GrantCreation>,
  by: ByMember,
): Promise<{ row: GrantRow; isNew: boolean }> {
  await assertOwner(trx, by.member, id)
  return grantAccess(trx, { type: 'address', id }, body, by)
}

/** @throws 404 also for a grant that does not exist on the address, 403 as above */
export async function unshareAddress(trx: Trx, id: string, grantId: string, by: ByMember): Promise<void> {
  await assertOwner(trx, by.member, id)
  await revokeAccess(trx, { type: 'address', id }, grantId, by)
}

async function assertOwner(trx: Trx, member: Member, id: string): Promise<void> {
  const { owner_id } = orNotFound(await findAddress(trx, visibleScopeOf(member), id), 'Address')
  if (owner_id !== member.userId) throw forbidden('not_permitted', 'Only the owner of an address may share it')
}

/**
 * Grants rights on an address or folder. The caller has checked that the member may share it. A subject has one grant
 * on an address or folder: a second grant replaces the rights of the first.
 *
 * @throws 400 for the member themselves, and for a subject that is neither a member nor a group of the vault
 */
export async function grantAccess(
  trx: Trx,
  shared: Shared,
  body: Static<typeof GrantCreation>,
  by: ByMember,
): Promise<{ row: GrantRow; isNew: boolean }> {
  const { member, now } = by
  await assertSubject(trx, member, body)
  const { subjectType, subjectId, canTransfer = false } = body
  const { table, column } = grantsOn[shared.type]
  const { rows } = await sql<{ id: string; is_new: boolean; could_transfer: boolean | null }>`
    insert into ${sql.table(table)}
      (vault_id, id, ${sql.ref(column)}, subject_type, subject_id, can_view, can_transfer, grantor_id, created_at)
    values (${member.vault.id}, ${newId(now)}, ${shared.id}, ${subjectType}, ${subjectId}, true, ${canTransfer},
      ${member.userId}, ${now})
    on conflict (vault_id, subject, ${sql.ref(column)}) do update set can_transfer = excluded.can_transfer
    returning id, xmax = 0 as is_new, (
      select o.can_transfer from ${sql.table(table)} o
      where o.vault_id = ${sql.ref(`${table}.vault_id`)} and o.id = ${sql.ref(`${table}.id`)}) as could_transfer`.execute(
    trx,
  )
  const { id, is_new: isNew, could_transfer } = rows[0]!
  const row = (await findGrant(trx, visibleScopeOf(member), shared, id))!
  const before = could_transfer === null ? null : rightsOf({ can_transfer: could_transfer })
  await recordGrant(trx, shared, { verb: 'shared', grant: row, before, after: rightsOf(row) }, by)
  return { row, isNew }
}

/**
 * Revokes a grant, which takes effect with the next request of the grantee.
 * @throws 404 when the grant does not exist on it
 */
export async function revokeAccess(trx: Trx, shared: Shared, grantId: string, by: ByMember): Promise<void> {
  const row = orNotFound(await findGrant(trx, visibleScopeOf(by.member), shared, grantId), 'Grant')
  const { rows } = await sql`
    delete from ${sql.table(grantsOn[shared.type].table)}
    where vault_id = ${by.member.vault.id} and id = ${grantId} returning id`.execute(trx)
  // A concurrent request revoked it first and wrote the audit record.
  if (rows.length === 0) throw notFound('Grant')
  await recordGrant(trx, shared, { verb: 'unshared', grant: row, before: rightsOf(row), after: null }, by)
}

async function assertSubject(
  trx: Trx,
  { vault, userId }: Member,
  { subjectType, subjectId }: Static<typeof GrantCreation>,
): Promise<void> {
  if (subjectType === 'group') {
    const groups = await lockExistingGroups(trx, vault.id, [subjectId])
    if (!groups.has(subjectId)) throw badRequest('subjectId', 'is not a group of this vault')
    return
  }
  if (subjectId === userId) throw badRequest('subjectId', 'must not be yourself')
  const members = await listMembersAmong(trx, vault.id, [subjectId])
  if (!members.has(subjectId)) throw badRequest('subjectId', 'is not a member of this vault')
}

const rightsOf = ({ can_transfer }: Pick<GrantRow, 'can_transfer'>) => (can_transfer ? 'view and transfer' : 'view')

type GrantEvent = {
  verb: 'shared' | 'unshared'
  grant: GrantRow
  /** The rights that the subject had before; null without a grant. */
  before: string | null
  after: string | null
}

/**
 * Records a grant. A grant by an administrator is announced, also to the subject, because it extends the rights of
 * others to see and transfer.
 */
async function recordGrant(
  trx: Trx,
  shared: Shared,
  { verb, grant, before, after }: GrantEvent,
  by: ByMember,
): Promise<void> {
  const action = `${shared.type}.${verb}`
  const details = {
    grantId: grant.id,
    subjectType: grant.subject_type,
    subjectId: grant.subject_id,
    canView: grant.can_view,
    canTransfer: grant.can_transfer,
  }
  if (!by.member.isAdmin || before === after) {
    await audit(trx, byMember(by), action, shared, details)
    return
  }
  const nameOf = await nameSubjects(trx, by.member.vault.id, [grant.subject_id])
  const what = shared.type === 'address' ? `address ${grant.shared_name}` : `folder ${quote(grant.shared_name)}`
  await announceVaultChange(
    trx,
    {
      ...byMember(by),
      action,
      targetType: shared.type,
      targetId: shared.id,
      details,
      words: {
        sentence: `The ${what} ${after === null ? 'is no longer' : 'was'} shared with ${quote(nameOf(grant.subject_id))}`,
        before: { rights: before ?? 'none' },
        after: { rights: after ?? 'none' },
      },
    },
    {
      userIds: [grant.shared_owner_id, ...(grant.subject_type === 'user' ? [grant.subject_id] : [])],
      groupIds: grant.subject_type === 'group' ? [grant.subject_id] : [],
    },
  )
}
