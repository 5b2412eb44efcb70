import { sql } from 'kysely'
import { displayNameOf } from '../../../access/profile.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { Directories } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import type { DirectoryStatus } from './schema.ts'

export type DirectoryRow = RowOf<
  Directories,
  { status: DirectoryStatus; people_count: number; active_count: number; held_count: number }
>

const selectDirectories = sql`
  select d.*,
    (select count(*)::int from directory_people p where p.directory_id = d.id) as people_count,
    (select count(*)::int from directory_people p where p.directory_id = d.id and p.active) as active_count,
    (select count(*)::int from directory_stops s where s.directory_id = d.id and s.held) as held_count
  from directories d`

/** Returns the directories, newest first, one row more than the limit. */
export async function listDirectories(db: Db | Trx, { after, limit }: Paging): Promise<DirectoryRow[]> {
  const { rows } = await sql<DirectoryRow>`
    ${selectDirectories}
    where ${after === null ? sql`true` : sql`(d.created_at, d.id) < (${after.createdAt}, ${after.id})`}
    order by d.created_at desc, d.id desc limit ${limit + 1}`.execute(db)
  return rows
}

export async function findDirectory(db: Db | Trx, id: string): Promise<DirectoryRow | null> {
  const { rows } = await sql<DirectoryRow>`${selectDirectories} where d.id = ${id}`.execute(db)
  return rows[0] ?? null
}

/** Locks a directory until the transaction ends. Returns false if it does not exist. */
export async function lockDirectory(trx: Trx, id: string): Promise<boolean> {
  const row = await trx.selectFrom('directories').select('id').where('id', '=', id).forUpdate().executeTakeFirst()
  return row !== undefined
}

/** Returns true while the activation of the directory waits for another platform administrator. */
export async function isWaiting(trx: Trx, id: string): Promise<boolean> {
  const row = await trx
    .selectFrom('platform_changes')
    .select('id')
    .where('action', '=', 'directory_activate')
    .where('target_id', '=', id)
    .where('status', '=', 'held')
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the ids of the vaults that have members with e-mail addresses of the domains. */
export async function listVaultIdsOfDomains(trx: Trx, domains: string[]): Promise<string[]> {
  const { rows } = await sql<{ vault_id: string }>`
    select distinct m.vault_id from users u join policy_group_memberships m on m.user_id = u.id
    where split_part(u.email, '@', 2) = any(${domains}::text[])`.execute(trx)
  return rows.map((row) => row.vault_id)
}

export type DirectoryPersonRow = {
  id: string
  created_at: Date
  name: string | null
  email: string
  user_name: string
  external_id: string | null
  active: boolean
  disabled_at: Date | null
  held_since: Date | null
}

/**
 * Returns the people of a directory, newest first, one row more than the limit. A person whom the directory deleted is listed
 * while their stop waits.
 */
export async function listDirectoryPeople(
  db: Db | Trx,
  directoryId: string,
  { held = false }: { held?: boolean },
  { after, limit }: Paging,
): Promise<DirectoryPersonRow[]> {
  const { rows } = await sql<DirectoryPersonRow>`
    select u.id, ${displayNameOf('u')} as name, u.email, u.disabled_at, coalesce(p.user_name, u.email) as user_name,
      p.external_id, coalesce(p.active, false) as active, coalesce(p.created_at, s.asked_at) as created_at,
      s.asked_at as held_since
    from directory_people p
    full join (select * from directory_stops where directory_id = ${directoryId} and held) s on s.user_id = p.user_id
    join users u on u.id = coalesce(p.user_id, s.user_id)
    where (p.directory_id = ${directoryId} or s.user_id is not null)
      and ${held ? sql`s.user_id is not null` : sql`true`}
      and ${after === null ? sql`true` : sql`(coalesce(p.created_at, s.asked_at), u.id) < (${after.createdAt}, ${after.id})`}
    order by coalesce(p.created_at, s.asked_at) desc, u.id desc limit ${limit + 1}`.execute(db)
  return rows
}
