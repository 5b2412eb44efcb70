import type { Static } from 'typebox'
import type { PlatformChangeRow } from './queries.ts'
import type { PlatformChange } from './schema.ts'

export function toPlatformChange(row: PlatformChangeRow): Static<typeof PlatformChange> {
  return {
    id: row.id,
    action: row.action,
    targetId: row.target_id,
    payload: row.payload,
    status: row.status,
    createdById: row.created_by_id,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    decidedById: row.decided_by_id,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at?.toISOString() ?? null,
  }
}
