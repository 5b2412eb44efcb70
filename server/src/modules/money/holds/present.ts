import type { Static } from 'typebox'
import { formatDecimal } from '../../../lib/money.ts'
import type { HoldRow } from './queries.ts'
import type { Hold } from './schema.ts'

export function toHold(row: HoldRow): Static<typeof Hold> {
  const { reserved, token_code: asset, decimals } = row
  return {
    id: row.id,
    vaultId: row.vault_id,
    subjectType: row.subject_type,
    subjectId: row.subject_id,
    subjectName: row.subject_name,
    origin: row.origin,
    reason: row.reason,
    isActive: row.released_at === null,
    reserved:
      reserved === null || asset === null || decimals === null
        ? null
        : { amount: reserved, amountDecimal: formatDecimal(reserved, decimals), asset },
    handedOverCount: row.handed_over,
    placedById: row.placed_by_id,
    placedBy: row.placed_by,
    createdAt: row.created_at.toISOString(),
    releasedAt: row.released_at?.toISOString() ?? null,
    releasedById: row.released_by_id,
    releasedBy: row.released_by,
    releaseReason: row.release_reason,
  }
}
