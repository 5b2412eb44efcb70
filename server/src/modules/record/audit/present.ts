import type { Static } from 'typebox'
import { idOfSequence } from '../../../lib/ids.ts'
import type { AuditSealRow, ListedRecordRow } from './queries.ts'
import type { AuditRecord, AuditSeal } from './schema.ts'

export function toAuditRecord(row: ListedRecordRow): Static<typeof AuditRecord> {
  const { details } = JSON.parse(row.content) as { details: Record<string, unknown> }
  return {
    id: row.id,
    actorId: row.actor_id,
    actor: row.actor,
    action: row.action,
    targetType: row.target_type,
    targetId: row.target_id,
    details,
    createdAt: row.created_at.toISOString(),
    content: row.content,
    hash: row.hash.toString('hex'),
    sealSequence: row.seal_sequence === null ? null : Number(row.seal_sequence),
  }
}

export function toAuditSeal(row: AuditSealRow): Static<typeof AuditSeal> {
  return {
    chain: row.chain,
    sequence: Number(row.sequence),
    previousHash: row.previous_hash.toString('hex'),
    records: row.record_ids.map((id, i) => ({ id, hash: row.record_hashes[i]!.toString('hex') })),
    sealedAt: row.sealed_at.toISOString(),
    hash: row.hash.toString('hex'),
  }
}

/** Seals are ordered by their number alone; a cursor names it in the form of an id. */
export const positionOfSeal = ({ sealed_at: createdAt, sequence }: AuditSealRow) => ({
  createdAt,
  id: idOfSequence(createdAt, BigInt(sequence)),
})
