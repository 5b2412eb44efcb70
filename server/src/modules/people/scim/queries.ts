import { sql } from 'kysely'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { DirectoryPeople } from '../../../db/types.ts'
import type { Filter } from './filter.ts'
import { type Column, type Columns, toCondition } from './filter-sql.ts'
import type { Person } from './person.ts'

export type PersonRow = RowOf<DirectoryPeople, { attributes: Person }>

/** Returns a person of a directory; null for a person of another directory. */
export async function findPerson(db: Db | Trx, directoryId: string, userId: string): Promise<PersonRow | null> {
  const query = db.selectFrom('directory_people').selectAll()
  const row = await query.where('directory_id', '=', directoryId).where('user_id', '=', userId).executeTakeFirst()
  return (row ?? null) as PersonRow | null
}

/** Returns a person of a directory, locked until the transaction ends. */
export async function lockPerson(trx: Trx, directoryId: string, userId: string): Promise<PersonRow | null> {
  const query = trx.selectFrom('directory_people').selectAll().forUpdate()
  const row = await query.where('directory_id', '=', directoryId).where('user_id', '=', userId).executeTakeFirst()
  return (row ?? null) as PersonRow | null
}

export type Range = { offset: number; limit: number }

/** Returns a page of the people of a directory who match a filter, by id, and the number of all matching people. */
export async function listPeople(
  db: Db | Trx,
  { directoryId, filter }: { directoryId: string; filter: Filter | null },
  { offset, limit }: Range,
): Promise<{ rows: PersonRow[]; total: number }> {
  const condition = sql<boolean>`p.directory_id = ${directoryId} and ${
    filter === null ? sql<boolean>`true` : toCondition(filter, columns)
  }`
  const counted = await sql<{ total: number }>`
    select count(*)::int as total from directory_people p where ${condition}`.execute(db)
  const { rows } = await sql<PersonRow>`
    select p.* from directory_people p where ${condition}
    order by p.user_id limit ${limit} offset ${offset}`.execute(db)
  return { rows, total: counted.rows[0]!.total }
}

const ofAttribute = (...path: string[]): Column => ({ type: 'text', sql: sql`p.attributes #>> ${path}::text[]` })

/** The attributes by which people are found, in lower case. */
const columns: Columns = {
  id: { type: 'text', sql: sql`p.user_id`, caseExact: true },
  username: { type: 'text', sql: sql`p.user_name` },
  externalid: { type: 'text', sql: sql`p.external_id`, caseExact: true },
  active: { type: 'boolean', sql: sql`p.active` },
  displayname: ofAttribute('displayName'),
  title: ofAttribute('title'),
  'name.formatted': ofAttribute('name', 'formatted'),
  'name.familyname': ofAttribute('name', 'familyName'),
  'name.givenname': ofAttribute('name', 'givenName'),
  'meta.created': { type: 'time', sql: sql`p.created_at` },
  'meta.lastmodified': { type: 'time', sql: sql`p.updated_at` },
  emails: {
    type: 'list',
    some: (condition) =>
      sql<boolean>`exists (select from jsonb_array_elements(coalesce(p.attributes -> 'emails', '[]')) e where ${condition})`,
    columns: {
      value: { type: 'text', sql: sql`e ->> 'value'` },
      type: { type: 'text', sql: sql`e ->> 'type'` },
      display: { type: 'text', sql: sql`e ->> 'display'` },
      primary: { type: 'boolean', sql: sql`(e ->> 'primary')::boolean` },
    },
  },
}
