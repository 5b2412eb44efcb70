import type { Static } from 'typebox'
import { formatDecimal } from '../../../lib/money.ts'
import { operationStatuses } from '../../../lib/operations.ts'
import { toApprover, toRequirement } from '../../rules/votes/present.ts'
import { isQuorumReachable } from '../../rules/votes/tally.ts'
import type { PayoutListRow, RowRow, TransferCounts } from './queries.ts'
import type { Payout, PayoutRow } from './schema.ts'

/** `now` decides whether the time to vote is over, because the status may not have been updated yet. */
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
    decisionPolicyId: row.decision_policy_id,
    decisionPolicyCode: row.decision_policy_code,
    decisionPolicyName: row.decision_policy_name,
    approvalThreshold: row.approval_threshold,
    approvalRequirements: row.requirements.map(toRequirement),
    approvers: row.approvers.map((approver) => toApprover(approver, isOpen)),
    quorumReachable: !isOpen || isQuorumReachable(row.requirements),
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

export function toPayoutRow(row: RowRow): Static<typeof PayoutRow> {
  return {
    row: row.row,
    externalId: row.external_id,
    transferId: row.id,
    status: row.status,
    fromAddressId: row.address_id,
    fromAddress: row.from_address,
    toAddress: row.to_address,
    counterpartyName: row.counterparty_name,
    network: row.network,
    tokenId: row.token_id,
    asset: row.token_code,
    amount: row.amount,
    amountDecimal: formatDecimal(row.amount, row.decimals),
    usdValue: row.usd_value,
    paymentPurpose: row.payment_purpose,
    note: row.note,
    payload: row.payload,
    payloadHash: row.payload_hash.toString('hex'),
    txHash: row.tx_hash,
    failureReason: row.failure_reason,
    haltReason: row.halt_reason,
  }
}
