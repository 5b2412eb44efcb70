import type { Users } from '../../../db/types.ts'
import type { Profile } from '../../../http/schema.ts'
import type { PlatformUserRow } from './queries.ts'
import type { OwnProfile, PlatformUser } from './schema.ts'

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

export type ProfileRow = Pick<Users, 'id' | 'name' | 'email' | 'username' | 'image' | 'color' | 'emoji'>

/** Names each field, so that a row with more columns never leaks what is not part of a profile. */
export function toProfile(row: ProfileRow): Profile {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    username: row.username,
    image: row.image,
    color: row.color,
    emoji: row.emoji,
  }
}

export const ownProfileColumns = [...profileColumns, 'users.notify_approvals', 'users.notify_decisions'] as const

export type OwnProfileRow = ProfileRow & { notify_approvals: boolean; notify_decisions: boolean }

export function toOwnProfile(row: OwnProfileRow): OwnProfile {
  return { ...toProfile(row), notifications: { approvals: row.notify_approvals, decisions: row.notify_decisions } }
}

export function toPlatformUser(row: PlatformUserRow): PlatformUser {
  return {
    userId: row.id,
    kind: row.kind,
    name: row.name,
    email: row.email,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
    vaults: row.vaults,
    isPlatformAdmin: row.is_platform_admin,
    disabledAt: row.disabled_at?.toISOString() ?? null,
  }
}
