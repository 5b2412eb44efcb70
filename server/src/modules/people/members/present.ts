import type { MemberRow } from './queries.ts'
import type { Member } from './schema.ts'

export function toMember(row: MemberRow): Member {
  return {
    userId: row.id,
    kind: row.kind,
    name: row.name,
    image: row.image,
    email: row.email,
    groups: row.groups,
    isAdmin: row.is_admin,
    isAuditor: row.is_auditor,
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
  }
}
