import type { Static } from 'typebox'
import { formatDecimal } from '../../../lib/money.ts'
import { operationStatuses } from '../../../lib/operations.ts'
import { votesOf } from '../transfers/present.ts'
import { toDecided } from '../transfers/to-decide.ts'
import type { PayoutListRow, StoredRow, TransferCounts } from './queries.ts'
import type { Payout, PayoutRow } from './schema.ts'

/** Presents a payout. `now` decides whether the time to vote is over, because the status may not have been updated yet. */
export function toPayout(row: PayoutListRow & { transfers?: TransferCounts }, now: Date): Static<typeof Payout> {
  const isOpen = row.status === 'awaiting_approval' && row.expires_at !== null && row.expires_at > now
  return {
    id: row.id,
    vaultId: row.vault_id,
    name: row.name,
    paymentPurpose: row.payment_purpose,
    status: row.status,
    initiatorId: row.initiator_id,
    initiator: row.initiator,
    rowsCount: row.rows_count,
    sums: row.sums,
    ...(row.transfers === undefined ? {} : { transfers: countsOf(row.transfers) }),
    payloadHash: row.payload_hash.toString('hex'),
    ...votesOf(row, isOpen),
    replaces: row.replaces,
    replacedBy: row.replaced_by,
    haltReason: row.halt_reason,
    expiresAt: row.expires_at?.toISOString() ?? null,
    resolvedAt: row.resolved_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

function countsOf(counts: TransferCounts) {
  return Object.fromEntries(operationStatuses.map((status) => [status, counts[status] ?? 0])) as Record<
    (typeof operationStatuses)[number],
    number
  >
}

export function toPayoutRow(row: StoredRow): Static<typeof PayoutRow> {
  const { id, decimals, payload_hash: hash, created_at: _, holds, is_exposed, recipient, entry, alikes, ...shown } = row
  const amountDecimal = formatDecimal(shown.amount, decimals)
  return { ...shown, transferId: id, amountDecimal, payloadHash: hash.toString('hex'), ...toDecided(row) }
}
