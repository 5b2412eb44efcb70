import type { Static } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import type { toOperationRow } from '../../operations/feed/operation-rows.ts'
import { detailFields } from '../../operations/feed/present.ts'
import type { Decision } from '../../rules/decisions/decision.ts'
import { rulesVersionOf } from '../../rules/decisions/decision.ts'
import type { OpenedApproval } from '../../rules/votes/open.ts'
import { toVotes } from '../../rules/votes/tally.ts'
import type { ShownParts } from '../orders/gather.ts'
import type { Order } from '../orders/load-order.ts'
import type { Payload } from '../orders/payload.ts'
import { haltedAsOtherOrder } from './lifecycle.ts'
import type { TransferRow } from './queries.ts'
import type { Transfer } from './schema.ts'

export function toTransfer(row: TransferRow): Static<typeof Transfer> {
  const isWaiting = row.status === 'awaiting_approval' && row.phase !== 'halted'
  return {
    ...detailFields(row),
    fromAddressId: row.address_id,
    initiatorId: row.initiator_id,
    toAddress: row.to_address,
    toAddressId: row.to_address_id,
    status: row.status,
    handedOverAt: handedOverAt(row),
    txIndex: row.tx_index,
    txHashes: [...row.replaced_tx_hashes, ...(row.tx_hash === null ? [] : [row.tx_hash])],
    fee: row.fee,
    feeUsdValue: row.fee_usd_value,
    ...votesOf(row, isWaiting),
    rulesVersion: rulesVersionOf([row.decision]),
    failureReason: row.failure_reason,
    haltReason: row.halt_reason,
    stuckSince: row.status === 'pending' ? (row.stuck_since?.toISOString() ?? null) : null,
    screening: row.screening,
    payload: row.payload,
    payloadHash: row.payload_hash.toString('hex'),
    vault: { id: row.vault_id, code: row.vault_code, name: row.vault_name },
    initiator: row.initiator,
    fromAddress: {
      id: row.address_id,
      address: row.from_address,
      derivationPath: row.derivation_path,
      network: row.network,
    },
    payoutId: row.payout_id,
    externalId: row.external_id,
    expiresAt: row.expires_at?.toISOString() ?? null,
    confirmedAt: row.confirmed_at?.toISOString() ?? null,
    updatedAt: row.updated_at.toISOString(),
  }
}

/** Returns null until the wallet service has confirmed that it has the order. */
function handedOverAt({ phase, sent_at, halt_reason }: TransferRow): string | null {
  const isUnknown = phase === 'queued' || phase === 'submitting' || halt_reason === haltedAsOtherOrder
  return isUnknown ? null : (sent_at?.toISOString() ?? null)
}

type Voted = Pick<
  TransferRow,
  | 'decision_policy_id'
  | 'decision_policy_code'
  | 'decision_policy_name'
  | 'approval_threshold'
  | 'requirements'
  | 'approvers'
>

/** Presents the policy that decided on a transfer or a payout, and its votes. `isWaiting` is true when it takes votes now. */
export function votesOf(row: Voted, isWaiting: boolean) {
  const { requirements: approvalRequirements, ...votes } = toVotes(row.requirements, row.approvers, isWaiting)
  return {
    decisionPolicyId: row.decision_policy_id,
    decisionPolicyCode: row.decision_policy_code,
    decisionPolicyName: row.decision_policy_name,
    approvalThreshold: row.approval_threshold,
    approvalRequirements,
    ...votes,
  }
}

/** Returns the row that `findTransfer` would read of a transfer after a vote or a cancellation moved it. */
export function toMovedTransfer(
  row: TransferRow,
  status: 'pending' | 'rejected' | 'cancelled',
  now: Date,
): TransferRow {
  return { ...row, status, phase: status === 'pending' ? 'queued' : 'done', failure_reason: null, updated_at: now }
}

/** An inserted transfer: its rows, and the values that they hold as JSON. */
export type WrittenTransfer = {
  operation: ReturnType<typeof toOperationRow>
  transfer: Pick<
    TransferRow,
    | 'to_address'
    | 'contract_address'
    | 'payload_hash'
    | 'decision_policy_id'
    | 'decision_policy_code'
    | 'decision_policy_name'
    | 'approval_threshold'
    | 'expires_at'
    | 'phase'
    | 'payout_id'
    | 'external_id'
  >
  payload: Payload
  decision: Decision
  approval: OpenedApproval
}

type Beside = { vault: Member['vault']; source: Order['source']; shown: ShownParts; category: string | null }

/** Returns the row that `findTransfer` would read of a new transfer. Its initiator, who named the category, may see it. */
export function toNewTransfer(
  { operation, transfer, payload, decision, approval }: WrittenTransfer,
  { vault, source, shown, category }: Beside,
): TransferRow {
  return {
    ...operation,
    ...transfer,
    vault_code: vault.code,
    vault_name: vault.name,
    from_address: source.address,
    derivation_path: source.derivation_path,
    initiator_id: payload.initiatorId,
    initiator: shown.initiator,
    network: source.network_slug,
    token_code: source.token_code,
    token_symbol: shown.symbol,
    decimals: source.decimals,
    category,
    to_address_id: shown.toAddressId,
    payload,
    decision,
    sent_at: null,
    fee: null,
    fee_usd_value: null,
    failure_reason: null,
    halt_reason: null,
    tx_index: null,
    replaced_tx_hashes: [],
    stuck_since: null,
    screening: null,
    requirements: approval.requirements,
    approvers: approval.approvers,
  }
}
