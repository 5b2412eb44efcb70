import type { Profile } from '../../../http/schema.ts'
import type { OwnProfileRow, PlatformUserRow, ProfileRow } from './queries.ts'
import type { OwnProfile, PlatformUser } from './schema.ts'

/** Returns the profile of a row. It names each field, so that other columns of the row cannot leak. */
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
