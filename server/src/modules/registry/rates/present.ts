import type { Static } from 'typebox'
import type { HeldRateRow, TokenRateRow } from './queries.ts'
import type { HeldRate, TokenRate } from './schema.ts'

export function toTokenRate(row: TokenRateRow): Static<typeof TokenRate> {
  return {
    tokenId: row.token_id,
    usdRate: row.usd_rate,
    asOf: row.as_of.toISOString(),
    source: row.source,
    createdAt: row.created_at.toISOString(),
  }
}

export function toHeldRate(row: HeldRateRow): Static<typeof HeldRate> {
  return {
    id: row.id,
    tokenId: row.token_id,
    token: row.token_code,
    network: row.network_slug,
    usdRate: row.usd_rate,
    comparedUsdRate: row.compared_usd_rate,
    asOf: row.as_of.toISOString(),
    source: row.source,
    status: row.status,
    createdById: row.created_by_id,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    decidedById: row.decided_by_id,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at?.toISOString() ?? null,
  }
}
