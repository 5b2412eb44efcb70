import type { Insertable } from 'kysely'
import type { Member } from '../../../access/caller.ts'
import type { Operations } from '../../../db/types.ts'
import { type OperationStatus, toOperationRow } from '../../operations/feed/write.ts'
import { toRateSnapshot } from '../../registry/rates/queries.ts'
import type { Decision } from '../../rules/policies/decision.ts'
import type { RecordedRequirement } from '../../rules/votes/compare-record.ts'
import { hashFacts, type RequestRecord } from './compare-record.ts'
import { hashPayload, type OrderBody, type Payload } from './payload.ts'
import type { Order } from './plan-order.ts'

/** An order that was decided and not refused. */
export type AcceptedOrder = {
  order: Order
  payload: Payload
  decision: Decision
  metadata: OrderBody['metadata']
  /** When it is rejected unless it was approved; null: it needs no votes. */
  expiresAt: Date | null
  now: Date
}

export function toPayload(id: string, member: Member, { source, to, amount }: Order): Payload {
  return {
    transferId: id,
    vaultId: member.vault.id,
    initiatorId: member.userId,
    fromAddressId: source.address_id,
    fromAddress: source.address,
    network: source.network_slug,
    coinType: source.coin_type,
    derivationPath: source.derivation_path,
    toAddress: to.address,
    tokenId: source.token_id,
    contractAddress: source.contract_address,
    amount: amount.toString(),
  }
}

/** Writes the rows of an order, and its audit record with the snapshot of its voters. */
export function toNewTransfer(accepted: AcceptedOrder, requirements: RecordedRequirement[]) {
  const transfer = toTransferRow(accepted)
  const { order, payload, decision, expiresAt } = accepted
  const status: OperationStatus = expiresAt === null ? 'pending' : 'awaiting_approval'
  const requested: RequestRecord = {
    status,
    payload,
    payloadHash: transfer.payload_hash.toString('hex'),
    decision: decision.effect,
    factsHash: hashFacts(decision.facts),
    requirements,
    counterpartyId: order.source.counterparty?.id ?? null,
    bypassed: decision.requirements.filter((one) => one.bypassed).map((one) => one.policyCode),
  }
  return { operation: toOperation(accepted, status), transfer, requested }
}

function toOperation(
  { order, payload, metadata, now }: AcceptedOrder,
  status: OperationStatus,
): Insertable<Operations> {
  const { source, amount } = order
  return toOperationRow({
    vaultId: payload.vaultId,
    id: payload.transferId,
    type: 'transfer',
    status,
    addressId: source.address_id,
    ownerId: source.owner_id,
    initiatorId: payload.initiatorId,
    networkId: source.network_id,
    tokenId: source.token_id,
    amount,
    decimals: source.decimals,
    rate: toRateSnapshot(source),
    flowType: source.to_address_id === null ? 'external' : 'internal',
    counterparty: source.counterparty,
    txHash: null,
    tags: metadata?.tags ?? [],
    paymentPurpose: metadata?.paymentPurpose ?? null,
    note: metadata?.note ?? null,
    now,
    confirmedAt: null,
    blockchainAt: null,
  })
}

function toTransferRow({ order: { source, to }, payload, decision, expiresAt, now }: AcceptedOrder) {
  const strictest = decision.requirements.find((one) => one.policyId === decision.decisionPolicy?.id)
  return {
    vault_id: payload.vaultId,
    id: payload.transferId,
    to_address: to.address,
    to_address_key: to.key,
    to_address_id: source.to_address_id,
    contract_address: source.contract_address,
    payload,
    payload_hash: hashPayload(payload),
    decision,
    decision_policy_id: decision.decisionPolicy?.id ?? null,
    decision_policy_code: decision.decisionPolicy?.code ?? null,
    decision_policy_name: decision.decisionPolicy?.name ?? null,
    approval_threshold: strictest?.threshold ?? 0,
    expires_at: expiresAt,
    phase: expiresAt === null ? 'queued' : 'waiting',
    next_attempt_at: expiresAt === null ? now : null,
    created_at: now,
  }
}
