import type { Static } from 'typebox'
import type { RelationRow } from './queries.ts'
import type { OperationRelation, RelationOfOperation } from './schema.ts'

export function toOperationRelation(row: RelationRow): Static<typeof OperationRelation> {
  return {
    id: row.id,
    vaultId: row.vault_id,
    sourceOperationType: row.source_operation_type,
    sourceOperationId: row.source_operation_id,
    targetOperationType: row.target_operation_type,
    targetOperationId: row.target_operation_id,
    relationType: row.relation_type,
    relatedAmountRaw: row.related_amount,
    tokenId: row.token_id,
    comment: row.comment,
    createdById: row.created_by_id,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
  }
}

/** Returns a relation as it is listed for one of its two operations. */
export function toRelationOfOperation(row: RelationRow, operationId: string): Static<typeof RelationOfOperation> {
  return { ...toOperationRelation(row), role: row.source_operation_id === operationId ? 'source' : 'target' }
}
