import type { Static } from 'typebox'
import { formatDecimal } from '../../../lib/money.ts'
import { toApprover } from '../../rules/votes/present.ts'
import { isQuorumReachable } from '../../rules/votes/tally.ts'
import type { TransferRow } from './queries.ts'
import type { Transfer } from './schema.ts'

export function toTransfer(row: TransferRow): Static<typeof Transfer> {
  const isWaiting = row.status === 'awaiting_approval' && row.phase !== 'halted'
  return {
    id: row.id,
    vaultId: row.vault_id,
    fromAddressId: row.address_id,
    initiatorId: row.initiator_id,
    toAddress: row.to_address,
    toAddressId: row.to_address_id,
    amount: row.amount,
    amountDecimal: formatDecimal(row.amount, row.decimals),
    asset: row.token_code,
    assetSymbol: row.token_symbol,
    tokenId: row.token_id,
    contractAddress: row.contract_address,
    network: row.network,
    status: row.status,
    txHash: row.tx_hash,
    fee: row.fee,
    decisionPolicyId: row.decision_policy_id,
    decisionPolicyCode: row.decision_policy_code,
    decisionPolicyName: row.decision_policy_name,
    failureReason: row.failure_reason,
    haltReason: row.halt_reason,
    flowType: row.flow_type,
    approvalThreshold: row.approval_threshold,
    approvalRequirements: row.requirements.map(({ policyId, policyCode, threshold, approvalsCount, bypassed }) => ({
      policyId,
      policyCode,
      threshold,
      approvalsCount,
      bypassed,
    })),
    approvers: row.approvers.map((approver) => toApprover(approver, isWaiting)),
    quorumReachable: !isWaiting || isQuorumReachable(row.requirements),
    payloadHash: row.payload_hash.toString('hex'),
    vault: { id: row.vault_id, code: row.vault_code, name: row.vault_name },
    initiator: row.initiator,
    counterparty:
      row.counterparty_id === null
        ? null
        : { id: row.counterparty_id, name: row.counterparty_name!, kind: row.counterparty_kind! },
    counterpartyAddressId: row.counterparty_address_id,
    fromAddress: {
      id: row.address_id,
      address: row.from_address,
      derivationPath: row.derivation_path,
      network: row.network,
    },
    metadata: { category: row.category, tags: row.tags, paymentPurpose: row.payment_purpose, note: row.note },
    usdRate: row.usd_rate,
    usdRateAsOf: row.usd_rate_as_of?.toISOString() ?? null,
    usdRateSource: row.usd_rate_source,
    usdValue: row.usd_value,
    expiresAt: row.expires_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    confirmedAt: row.confirmed_at?.toISOString() ?? null,
    updatedAt: row.updated_at.toISOString(),
  }
}
