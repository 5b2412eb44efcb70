import { sql } from 'kysely'
import { displayNameOf } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { containsPattern } from '../../../lib/like.ts'
import { type OwnProfileRow, ownProfileColumns } from './present.ts'

export function getOwnProfile(db: Db | Trx, userId: string): Promise<OwnProfileRow> {
  return db.selectFrom('users').select(ownProfileColumns).where('id', '=', userId).executeTakeFirstOrThrow()
}

/** What a user interface remembers for the user; empty until they stored something. */
export async function getPreferences(db: Db | Trx, userId: string): Promise<Record<string, unknown>> {
  const query = db.selectFrom('user_preferences').select('preferences').where('user_id', '=', userId)
  return ((await query.executeTakeFirst())?.preferences ?? {}) as Record<string, unknown>
}

export type PlatformUserRow = {
  id: string
  kind: 'person' | 'service'
  name: string
  email: string | null
  created_at: Date
  last_seen_at: Date | null
  vaults: { code: string; name: string }[]
  is_platform_admin: boolean
}

/** Users of the service that can use it, the newest id first, with the vaults in which a group names them. */
export async function listPlatformUsers(
  db: Db,
  search: string | undefined,
  { after, limit }: Paging,
): Promise<PlatformUserRow[]> {
  const pattern = search === undefined ? null : containsPattern(search)
  const { rows } = await sql<PlatformUserRow>`
    select u.id, u.kind, ${displayNameOf('u')} as name, u.email, u.created_at, u.is_platform_admin,
      (select max(s.last_seen_at) from sessions s where s.user_id = u.id) as last_seen_at,
      (select coalesce(json_agg(json_build_object('code', v.code, 'name', v.name) order by v.code), '[]') from vaults v
        where v.id in (select m.vault_id from policy_group_memberships m where m.user_id = u.id)) as vaults
    from users u
    where u.disabled_at is null
      ${after === null ? sql`` : sql`and u.id < ${after.id}`}
      ${pattern === null ? sql`` : sql`and (u.name ilike ${pattern} or u.username ilike ${pattern} or u.email ilike ${pattern})`}
    order by u.id desc
    limit ${limit + 1}`.execute(db)
  return rows
}
