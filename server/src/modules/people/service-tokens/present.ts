import type { ServiceTokenRow } from './queries.ts'
import type { ServiceToken } from './schema.ts'

export function toServiceToken(row: ServiceTokenRow): ServiceToken {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    createdById: row.created_by_id,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
  }
}
