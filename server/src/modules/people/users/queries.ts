import { sql } from 'kysely'
import { displayNameOf } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Users } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { containsPattern } from '../../../lib/like.ts'
import type { UserStatus } from './schema.ts'

export type ProfileRow = Pick<Users, 'id' | 'name' | 'email' | 'username' | 'image' | 'color' | 'emoji'>

/** The columns of `users` that `toProfile` needs, for the select lists of every module that shows people. */
export const profileColumns = [
  'users.id',
  'users.name',
  'users.email',
  'users.username',
  'users.image',
  'users.color',
  'users.emoji',
] as const

export type OwnProfileRow = ProfileRow & { notify_approvals: boolean; notify_decisions: boolean }
export const ownProfileColumns = [...profileColumns, 'users.notify_approvals', 'users.notify_decisions'] as const

export function getOwnProfile(db: Db | Trx, userId: string): Promise<OwnProfileRow> {
  return db.selectFrom('users').select(ownProfileColumns).where('id', '=', userId).executeTakeFirstOrThrow()
}

/** Returns the data that a user interface stored for the user; an empty object if there are none. */
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
  disabled_at: Date | null
}

const platformUser = sql`
  u.id, u.kind, ${displayNameOf('u')} as name, u.email, u.created_at, u.is_platform_admin, u.disabled_at,
  (select max(s.last_seen_at) from sessions s where s.user_id = u.id) as last_seen_at,
  (select coalesce(json_agg(json_build_object('code', v.code, 'name', v.name) order by v.code), '[]') from vaults v
    where v.id in (select m.vault_id from policy_group_memberships m where m.user_id = u.id)) as vaults`

/** SQL condition: the user `u` is a service whose token was revoked. It cannot be enabled again. */
export const isRevokedService = sql<boolean>`(u.kind = 'service' and not exists (
  select from service_tokens t where t.user_id = u.id and t.revoked_at is null))`

/**
 * Returns the active or the disabled users of the platform, the newest id first, with the vaults of which they are members.
 * Services whose token was revoked are in neither list.
 */
export async function listPlatformUsers(
  db: Db,
  { search, status = 'active' }: { search?: string; status?: UserStatus },
  { after, limit }: Paging,
): Promise<PlatformUserRow[]> {
  const pattern = search === undefined ? null : containsPattern(search)
  const { rows } = await sql<PlatformUserRow>`
    select ${platformUser}
    from users u
    where ${status === 'active' ? sql`u.disabled_at is null` : sql`u.disabled_at is not null and not ${isRevokedService}`}
      ${after === null ? sql`` : sql`and u.id < ${after.id}`}
      ${pattern === null ? sql`` : sql`and (u.name ilike ${pattern} or u.username ilike ${pattern} or u.email ilike ${pattern})`}
    order by u.id desc
    limit ${limit + 1}`.execute(db)
  return rows
}

export async function findPlatformUser(db: Db | Trx, id: string): Promise<PlatformUserRow | null> {
  const { rows } = await sql<PlatformUserRow>`select ${platformUser} from users u where u.id = ${id}`.execute(db)
  return rows[0] ?? null
}
