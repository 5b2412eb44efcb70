import { sql } from 'kysely'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { DirectoryGroups } from '../../../db/types.ts'
import type { Filter } from './filter.ts'
import { type Columns, toCondition } from './filter-sql.ts'
import type { Range } from './queries.ts'

export type GroupRow = RowOf<DirectoryGroups, object>
export type GroupMember = { group_id: string; value: string; display: string }

/** Returns a group of a directory; null for a group of another directory. */
export async function findGroup(db: Db | Trx, directoryId: string, id: string): Promise<GroupRow | null> {
  const query = db.selectFrom('directory_groups').selectAll()
  return (await query.where('directory_id', '=', directoryId).where('id', '=', id).executeTakeFirst()) ?? null
}

/** Returns a group of a directory, locked until the transaction ends. */
export async function lockGroup(trx: Trx, directoryId: string, id: string): Promise<GroupRow | null> {
  const query = trx.selectFrom('directory_groups').selectAll().forUpdate()
  return (await query.where('directory_id', '=', directoryId).where('id', '=', id).executeTakeFirst()) ?? null
}

/** Returns the members of groups, by group and person. */
export async function listMembers(db: Db | Trx, groupIds: string[]): Promise<GroupMember[]> {
  const { rows } = await sql<GroupMember>`
    select m.group_id, m.user_id as value, p.user_name as display
    from directory_group_members m join directory_people p on p.user_id = m.user_id
    where m.group_id = any(${groupIds}::text[]) order by m.group_id, m.user_id`.execute(db)
  return rows
}

/** Returns a page of the groups of a directory that match a filter, by id, and the number of all matching groups. */
export async function listGroups(
  db: Db | Trx,
  { directoryId, filter }: { directoryId: string; filter: Filter | null },
  { offset, limit }: Range,
): Promise<{ rows: GroupRow[]; total: number }> {
  const condition = sql<boolean>`g.directory_id = ${directoryId} and ${
    filter === null ? sql<boolean>`true` : toCondition(filter, columns)
  }`
  const counted = await sql<{ total: number }>`
    select count(*)::int as total from directory_groups g where ${condition}`.execute(db)
  const { rows } = await sql<GroupRow>`
    select g.* from directory_groups g where ${condition} order by g.id limit ${limit} offset ${offset}`.execute(db)
  return { rows, total: counted.rows[0]!.total }
}

/** The attributes by which groups are found, in lower case. */
const columns: Columns = {
  id: { type: 'text', sql: sql`g.id`, caseExact: true },
  displayname: { type: 'text', sql: sql`g.display_name` },
  externalid: { type: 'text', sql: sql`g.external_id`, caseExact: true },
  'meta.created': { type: 'time', sql: sql`g.created_at` },
  'meta.lastmodified': { type: 'time', sql: sql`g.updated_at` },
  members: {
    type: 'list',
    some: (condition) =>
      sql<boolean>`exists (select from directory_group_members m where m.group_id = g.id and ${condition})`,
    columns: { value: { type: 'text', sql: sql`m.user_id`, caseExact: true } },
  },
}
