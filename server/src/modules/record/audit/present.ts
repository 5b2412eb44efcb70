import type { Static } from 'typebox'
import { idOfSequence } from '../../../lib/ids.ts'
import { toSeal } from '../seals/present.ts'
import type { SealRow } from '../seals/queries.ts'
import type { ListedRecordRow } from './queries.ts'
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

export function toAuditSeal(row: SealRow): Static<typeof AuditSeal> {
  return { chain: row.chain, ...toSeal(row) }
}

/** Returns the position of a seal in a list. Seals are ordered by their number alone; a cursor names it in the form of an id. */
export const positionOfSeal = ({ sealed_at: createdAt, sequence }: SealRow) => ({
  createdAt,
  id: idOfSequence(createdAt, BigInt(sequence)),
})
