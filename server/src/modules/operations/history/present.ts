import type { Static } from 'typebox'
import { operationFields } from '../feed/present.ts'
import type { HistoryRow } from './queries.ts'
import type { HistoryItem } from './schema.ts'

export function toHistoryItem(row: HistoryRow): Static<typeof HistoryItem> {
  const own = { id: row.address_id, address: row.address, label: row.label }
  const isOut = row.type === 'transfer'
  return {
    ...operationFields(row),
    direction: isOut ? 'out' : 'in',
    operationType: row.type,
    status: row.status,
    fee: row.fee,
    failureReason: row.failure_reason,
    fromAddress: isOut ? own : row.from_address === null ? null : { id: null, address: row.from_address, label: null },
    toAddress: isOut ? row.to_address! : row.address,
    initiatorId: row.initiator_id,
    decisionPolicyId: row.decision_policy_id,
    decisionPolicyCode: row.decision_policy_code,
    counterparty: row.counterparty_id === null ? null : { id: row.counterparty_id, name: row.counterparty_name! },
    approvalThreshold: row.approval_threshold ?? 0,
    approvalsCount: row.approvals_count,
    warnings: [...(row.is_look_alike ? ['look_alike' as const] : []), ...(row.is_dust ? ['dust' as const] : [])],
    confirmedAt: row.confirmed_at?.toISOString() ?? null,
  }
}
