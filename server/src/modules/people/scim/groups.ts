import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { newId } from '../../../lib/ids.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { audit, changedFields } from '../../record/audit/record.ts'
import { type ByDirectory, isVersion } from './by-directory.ts'
import type { GroupChange, SentGroup } from './group-patch.ts'
import { findGroup, type GroupRow, lockGroup } from './group-queries.ts'
import { notPresentVersion, notUnique, scimFault } from './scim-fault.ts'

/** Adds a group to a directory. The group gives its members no rights. @throws 400 for members of another directory, 409 */
export async function addGroup(trx: Trx, sent: SentGroup, { directory, now }: ByDirectory): Promise<GroupRow> {
  const id = newId(now)
  await trx
    .insertInto('directory_groups')
    .values({
      id,
      directory_id: directory.id,
      display_name: sent.displayName,
      external_id: sent.externalId,
      version: 1,
      created_at: now,
      updated_at: now,
    })
    .execute()
    .catch(taken)
  const added = await addMembers(trx, { id, directoryId: directory.id }, sent.memberIds)
  const row = (await findGroup(trx, directory.id, id))!
  await audit(trx, { vaultId: null, actorId: null, now }, 'directory.group_added', target(row), {
    ...named(row),
    added,
  })
  return row
}

/** Applies all changes to a group, or none. The cost does not depend on the size of the group. @throws 400, 404, 409, 412 */
export async function changeGroup(
  trx: Trx,
  id: string,
  changes: readonly GroupChange[],
  by: ByDirectory,
): Promise<GroupRow> {
  const { directory, now } = by
  const before = await lockVersion(trx, id, by)
  const after = { display_name: before.display_name, external_id: before.external_id }
  let [added, removed] = [0, 0]
  for (const change of changes) {
    if (change.name === 'displayName') after.display_name = change.value
    else if (change.name === 'externalId') after.external_id = change.value
    else {
      const kept = change.verb === 'replace' ? change.ids : null
      if (change.verb === 'remove') removed += await removeMembers(trx, id, change.ids)
      if (change.verb === 'clear' || kept !== null) removed += await removeOthers(trx, id, kept ?? [])
      if (change.verb === 'add' || change.verb === 'replace')
        added += await addMembers(trx, { id, directoryId: directory.id }, change.ids)
    }
  }
  const fields = changedFields(named(before), named({ ...before, ...after }))
  if (fields === null && added + removed === 0) return before
  await trx
    .updateTable('directory_groups')
    .set({ ...after, version: before.version + 1, updated_at: now })
    .where('id', '=', id)
    .execute()
    .catch(taken)
  const details = { ...fields, added, removed }
  await audit(trx, { vaultId: null, actorId: null, now }, 'directory.group_updated', target(before), details)
  return (await findGroup(trx, directory.id, id))!
}

/** Removes a group of a directory. @throws 404, 412 */
export async function removeGroup(trx: Trx, id: string, by: ByDirectory): Promise<void> {
  const row = await lockVersion(trx, id, by)
  await trx.deleteFrom('directory_groups').where('id', '=', id).execute()
  await audit(trx, { vaultId: null, actorId: null, now: by.now }, 'directory.group_removed', target(row), named(row))
}

/** Returns the number of new members. @throws 400 for an id that is not of a person of the directory */
async function addMembers(
  trx: Trx,
  { id, directoryId }: { id: string; directoryId: string },
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0
  const { rows: unknown } = await sql<{ id: string }>`
    select i.id from unnest(${ids}::text[]) i(id)
    where not exists (select from directory_people p where p.user_id = i.id and p.directory_id = ${directoryId})
    limit 1`.execute(trx)
  if (unknown.length > 0)
    throw scimFault('invalidValue', `members: the directory names nobody with the id ${JSON.stringify(unknown[0]!.id)}`)
  const { numAffectedRows = 0n } = await sql`
    insert into directory_group_members (group_id, user_id)
    select ${id}, i.id from unnest(${ids}::text[]) i(id) order by i.id on conflict do nothing`.execute(trx)
  return Number(numAffectedRows)
}

async function removeMembers(trx: Trx, id: string, ids: readonly string[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from directory_group_members where group_id = ${id} and user_id = any(${ids}::text[])`.execute(trx)
  return Number(numAffectedRows)
}

async function removeOthers(trx: Trx, id: string, kept: readonly string[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from directory_group_members m where m.group_id = ${id}
      and not exists (select from unnest(${kept}::text[]) k(id) where k.id = m.user_id)`.execute(trx)
  return Number(numAffectedRows)
}

async function lockVersion(trx: Trx, id: string, { directory, version }: ByDirectory): Promise<GroupRow> {
  const row = orNotFound(await lockGroup(trx, directory.id, id), 'Group')
  if (version !== null && !isVersion(version, row.version)) throw notPresentVersion()
  return row
}

const taken = onViolation('directory_groups_display_name', () => notUnique('displayName: the directory already has it'))
const named = (row: Pick<GroupRow, 'display_name' | 'external_id'>) => ({
  displayName: row.display_name,
  externalId: row.external_id,
})
const target = ({ id }: Pick<GroupRow, 'id'>) => ({ type: 'directory_group', id })
