import type { Static } from 'typebox'
import type { AuditRecordRow } from './queries.ts'
import type { AuditRecord } from './schema.ts'

export function toAuditRecord(row: AuditRecordRow): Static<typeof AuditRecord> {
  const { details } = JSON.parse(row.content) as { details: Record<string, unknown> }
  return {
    id: row.id,
    actorId: row.actor_id,
    action: row.action,
    targetType: row.target_type,
    targetId: row.target_id,
    details,
    createdAt: row.created_at.toISOString(),
    hash: row.hash.toString('hex'),
    sealSequence: row.seal_sequence === null ? null : Number(row.seal_sequence),
  }
}
