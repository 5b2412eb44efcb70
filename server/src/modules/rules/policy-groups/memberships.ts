import { type RawBuilder, sql } from 'kysely'
import { isAdministrators, isEveryone } from '../../../access/memberships.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { newId } from '../../../lib/ids.ts'

/** Returns the ids in the list that are policy groups of the vault, or its folders. */
export async function listGroupsAmong(
  db: Db | Trx,
  vaultId: string,
  ids: string[],
  { table = 'policy_groups', lock = sql`` }: { table?: GroupTable; lock?: RawBuilder<unknown> } = {},
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)} where vault_id = ${vaultId} and id = any(${ids}) order by id ${lock}`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

type GroupTable = 'policy_groups' | 'address_groups'

/** As `listGroupsAmong`; the found groups cannot be deleted until the transaction ends. */
export const lockExistingGroups = (trx: Trx, vaultId: string, ids: string[], table?: GroupTable) =>
  listGroupsAmong(trx, vaultId, ids, { table, lock: sql`for key share` })

/** Returns the id of the group of the administrators of a vault. */
export async function findAdministratorsId(db: Db | Trx, vaultId: string): Promise<string> {
  const { id } = await db
    .selectFrom('policy_groups')
    .select('id')
    .where('vault_id', '=', vaultId)
    .where(isAdministrators('policy_groups'))
    .executeTakeFirstOrThrow()
  return id
}

/**
 * Adds a user to groups of a vault; existing memberships stay unchanged. `everyone`, which is never stored, and groups
 * that the vault does not have are skipped. The caller writes the audit record.
 */
export async function insertMemberships(
  trx: Trx,
  { vaultId, groupIds, userId, now }: { vaultId: string; groupIds: string[]; userId: string; now: Date },
): Promise<void> {
  const ids = groupIds.map(() => newId(now))
  // In the order of the groups, so that two concurrent calls cannot deadlock.
  await sql`
    insert into policy_group_memberships (vault_id, id, group_id, user_id, created_at)
    select g.vault_id, n.id, g.id, ${userId}, ${now}
    from unnest(${ids}::text[], ${groupIds}::text[]) as n (id, group_id)
    join policy_groups g on g.vault_id = ${vaultId} and g.id = n.group_id
    where not ${isEveryone('g')}
    order by g.id
    on conflict (vault_id, group_id, user_id) do nothing`.execute(trx)
}

/** The vaults that a user is a member of. */
export async function listVaultIdsOf(db: Db | Trx, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('policy_group_memberships')
    .select('vault_id')
    .distinct()
    .where('user_id', '=', userId)
    .orderBy('vault_id')
    .execute()
  return rows.map((row) => row.vault_id)
}

/** Returns the ids in the list that are in any group of the vault. */
export async function listMembersAmong(db: Db | Trx, vaultId: string, userIds: string[]): Promise<Set<string>> {
  if (userIds.length === 0) return new Set()
  const { rows } = await sql<{ user_id: string }>`
    select distinct user_id from policy_group_memberships
    where vault_id = ${vaultId} and user_id = any(${userIds})`.execute(db)
  return new Set(rows.map(({ user_id }) => user_id))
}
