import type { Static } from 'typebox'
import { operationFields } from '../feed/present.ts'
import type { HistoryRow } from './queries.ts'
import type { HistoryItem } from './schema.ts'

export function toHistoryItem(row: HistoryRow): Static<typeof HistoryItem> {
  const ownAddress = { id: row.address_id, address: row.address, label: row.label }
  const isOut = row.type === 'transfer'
  const other = { id: row.other_id, label: row.other_label }
  return {
    ...operationFields(row),
    txIndex: row.tx_index,
    direction: isOut ? 'out' : 'in',
    operationType: row.type,
    status: row.status,
    fee: row.fee,
    feeUsdValue: row.fee_usd_value,
    failureReason: row.failure_reason,
    fromAddress: isOut ? ownAddress : row.from_address === null ? null : { ...other, address: row.from_address },
    fromAddressLabel: isOut ? row.label : other.label,
    toAddress: isOut ? row.to_address! : row.address,
    toAddressId: isOut ? other.id : row.address_id,
    toAddressLabel: isOut ? other.label : row.label,
    initiatorId: row.initiator_id,
    initiator: row.initiator,
    expiresAt: row.expires_at?.toISOString() ?? null,
    decisionPolicyId: row.decision_policy_id,
    decisionPolicyCode: row.decision_policy_code,
    counterparty: row.counterparty_id === null ? null : { id: row.counterparty_id, name: row.counterparty_name! },
    payoutId: row.payout_id,
    externalId: row.external_id,
    approvalThreshold: row.approval_threshold ?? 0,
    approvalsCount: row.approvals_count,
    warnings: [...(row.is_look_alike ? ['look_alike' as const] : []), ...(row.is_dust ? ['dust' as const] : [])],
    confirmedAt: row.confirmed_at?.toISOString() ?? null,
    orphanedAt: row.orphaned_at?.toISOString() ?? null,
  }
}
