import type { Member } from '../../../access/caller.ts'
import type { toOperationRow } from '../../operations/feed/write.ts'
import type { Decision } from '../../rules/decisions/decision.ts'
import type { OpenedApproval } from '../../rules/votes/open.ts'
import type { Order, ShownParts } from '../orders/load-order.ts'
import type { Payload } from '../orders/payload-schema.ts'
import type { TransferRow } from './queries.ts'

/** A transfer that was just inserted: its rows, and the values that they hold as JSON. */
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

type Beside = { vault: Member['vault']; source: Order['source']; shown: ShownParts }

/** The row that `findTransfer` would read of a new transfer without a category, to a recipient outside of the vault. */
export function toNewTransfer(
  { operation, transfer, payload, decision, approval }: WrittenTransfer,
  { vault, source, shown }: Beside,
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
    category: null,
    to_address_id: null,
    payload,
    decision,
    fee: null,
    failure_reason: null,
    halt_reason: null,
    replaced_tx_hashes: [],
    stuck_since: null,
    screening: null,
    requirements: approval.requirements,
    approvers: approval.approvers,
  }
}
