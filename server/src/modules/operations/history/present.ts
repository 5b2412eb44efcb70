import type { Static } from 'typebox'
import { formatDecimal } from '../../../lib/money.ts'
import type { HistoryRow } from './queries.ts'
import type { HistoryItem } from './schema.ts'

export function toHistoryItem(row: HistoryRow): Static<typeof HistoryItem> {
  const own = { id: row.address_id, address: row.address, label: row.label }
  const isOut = row.type === 'transfer'
  return {
    id: row.id,
    direction: isOut ? 'out' : 'in',
    operationType: row.type,
    network: row.network,
    flowType: row.flow_type,
    status: row.status,
    txHash: row.tx_hash,
    amount: row.amount,
    amountDecimal: formatDecimal(row.amount, row.decimals),
    asset: row.token_code,
    assetSymbol: row.token_symbol,
    tokenId: row.token_id,
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
    usdRate: row.usd_rate,
    usdValue: row.usd_value,
    usdRateSource: row.usd_rate_source,
    metadata: { category: row.category, tags: row.tags, paymentPurpose: row.payment_purpose, note: row.note },
    warnings: [...(row.is_look_alike ? ['look_alike' as const] : []), ...(row.is_dust ? ['dust' as const] : [])],
    createdAt: row.created_at.toISOString(),
    confirmedAt: row.confirmed_at?.toISOString() ?? null,
  }
}
