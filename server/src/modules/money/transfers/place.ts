import type { Insertable, RawBuilder } from 'kysely'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import { insertsOf, type Part, runParts } from '../../../db/insert-rows.ts'
import type { Operations } from '../../../db/types.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { type Objection, refusalFor } from '../../../lib/errors.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import { assigningNamed, type NamedCategory } from '../../operations/assignments/named-category.ts'
import { toOperationRow, toRateSnapshot } from '../../operations/feed/operation-rows.ts'
import { audit, toAuditRow } from '../../record/audit/record.ts'
import { mailsToVoters } from '../../record/notifications/notification-rows.ts'
import { decideBy, keepDecision, type Question, sumLockedVelocity } from '../../rules/decisions/decide.ts'
import { type Decision, hashesOf } from '../../rules/decisions/decision.ts'
import { keeping, type Verified } from '../../rules/signatures/take.ts'
import type { RecordedRequirement } from '../../rules/votes/compare-approval.ts'
import { approvalEnd, type OpenedApproval, openApproval, unasked } from '../../rules/votes/open.ts'
import { postEntries, posting } from '../ledger/postings.ts'
import type { Answers } from '../orders/ask-services.ts'
import { lockAvailable } from '../orders/gather.ts'
import { factsOfNewOrder, loadOrder, type Order } from '../orders/load-order.ts'
import { feeNotAsked, objectionToOrder } from '../orders/objections.ts'
import type { Payload } from '../orders/payload.ts'
import type { OrderBody } from '../orders/schema.ts'
import { assertNotPlaced, readPayload, type Signing } from '../orders/sign-order.ts'
import type { RequestRecord } from './compare-order.ts'
import { toNewTransfer, type WrittenTransfer } from './present.ts'
import type { TransferRow } from './queries.ts'

type Ordering = ByMember & { answers: Answers }

/**
 * Decides on an order and, unless it is refused, reserves its funds: everything or nothing, in `trx`. A refusal by the
 * policies writes an audit record.
 *
 * @param answers the answers of other services about the order, before the transaction
 * @throws as `loadOrder`; 409 for insufficient funds or gas, an archived recipient, a disabled token or a quorum that cannot be
 *   reached, which are the problems of a preview; as `readPayload`, and 409 for a signed order that was placed before
 */
export async function orderTransfer(
  trx: Trx,
  deps: Signing,
  body: OrderBody,
  { member, now, answers: { lacking, riskScore, keyElsewhere } }: Ordering,
): Promise<{ transfer: TransferRow } | Refusal> {
  const by = byMember({ member, now })
  const scope = visibleScopeOf(member)
  const { order, category, question, candidates, rulesVersion, shown } = await loadOrder(trx, body, {
    scope,
    initiator: member,
    spends: true,
    locksHolds: true,
    riskScore,
    now,
  })
  const planned = await readPayload(trx, { ...deps, keyElsewhere }, body.signed, { member, now, rulesVersion, order })
  const { payload, verified } = planned
  const sums = await sumLockedVelocity(trx, candidates, question)
  const { available, uncovered, hold } = await lockAvailable(trx, payload, order)
  if (verified !== undefined) await assertNotPlaced(trx, 'transfer', by.vaultId, payload.transferId)

  const facts = { ...question.facts, ...sums, available }
  const decision = await decideBy(trx, candidates, { ...question, facts })
  const gathered = {
    ...factsOfNewOrder(order),
    hold,
    initiatorId: member.userId,
    decision,
    uncovered,
    fee: { ...feeNotAsked, lacking, isChecked: true },
    shortages: [],
  }
  const objection = objectionToOrder(gathered)
  if (objection !== null && !objection.isRecorded) throw refusalFor(objection)
  if (objection !== null) return refuseByPolicies(trx, by, { objection, payload, category, question, decision })

  const { requirements } = decision
  const opened = { vaultId: by.vaultId, subjectId: payload.transferId, initiatorId: member.userId, requirements, now }
  const approval = requirements.length === 0 ? unasked : await openApproval(trx, opened)
  const shortage = objectionToOrder({ ...gathered, shortages: approval.shortages })
  if (shortage !== null) throw refusalFor(shortage)
  const expiresAt = decision.effect === 'approval' ? approvalEnd(now, deps.config, payload.expiresAt) : null
  const { metadata } = body
  const accepted = { ...planned, order, decision, metadata, expiresAt, now }
  const written = await writeTransfer(trx, { ...accepted, named: category, approval })
  const known = { vault: member.vault, source: order.source, shown, category: category?.category.key ?? null }
  return { transfer: toNewTransfer(written, known) }
}

type Refused = {
  objection: Objection
  payload: Payload
  category: NamedCategory | null
  question: Question
  decision: Decision
}

/** Records an order that the policies refuse, so that other policies can be tried on it. */
async function refuseByPolicies(
  trx: Trx,
  by: ReturnType<typeof byMember>,
  { objection, payload, category, question: { actionType }, decision }: Refused,
): Promise<Refusal> {
  const { vaultId, initiatorId, fromAddressId } = payload
  const decisionPolicyCode = decision.decisionPolicy?.code ?? null
  const { message } = objection
  const details = { payload, category: category?.category.key ?? null, decisionPolicyCode, message }
  const action = objection.reason === 'blocked_by_policy' ? 'transfer.blocked' : 'transfer.denied'
  await audit(trx, by, action, { type: 'address', id: fromAddressId }, details)
  const decisions = [{ actionType, decision }]
  await keepDecision(trx, { vaultId, initiatorId, action: 'transfer', decisions, now: by.now })
  return { refusal: refusalFor(objection) }
}

/** An order that is written, with its voters and the category that it declares. */
type Writing = Omit<AcceptedOrder, 'voters' | 'category'> & { named: NamedCategory | null; approval: OpenedApproval }

/** SQL: the statements of other rooms that run with the insert of a transfer, as parts of the same statement. */
const beside: ((trx: Trx, writing: Writing) => Part[])[] = [
  (_, { approval }) => approval.parts,
  (trx, { payload: { vaultId, transferId, initiatorId }, expiresAt, approval, now }) => {
    const subject = { vaultId, subjectType: 'transfer', subjectId: transferId, initiatorId } as const
    return expiresAt === null ? [] : [mailsToVoters(trx, subject, approval.approvers, now)]
  },
  (trx, { payload: { vaultId, transferId }, verified, now }) =>
    verified === undefined ? [] : keeping(trx, verified, { vaultId, subjectId: transferId, now }),
  (trx, { payload: { vaultId, transferId, initiatorId }, named, now }) => {
    const operation = { vault_id: vaultId, id: transferId, type: 'transfer', created_at: now } as const
    return named === null ? [] : assigningNamed(trx, operation, named, { actorId: initiatorId, now }).parts
  },
]

async function writeTransfer(trx: Trx, writing: Writing): Promise<WrittenTransfer> {
  const { payload, decision, named, approval, now } = writing
  const order = { ...writing, voters: approval.snapshot, category: named?.category.key ?? null }
  const parts = beside.flatMap((partsOf) => partsOf(trx, writing))
  const [rows] = await insertOrders(trx, [order], now, parts)
  return { ...rows!, payload, decision, approval }
}

/** An order that was decided and not refused. */
type AcceptedOrder = {
  order: Order
  payload: Payload
  payloadHash: Buffer
  decision: Decision
  metadata: OrderBody['metadata']
  /** The key of the category of the order. */
  category: string | null
  /** The snapshot of the voters. It is empty for a row of a payout, because people vote on the payout. */
  voters: RecordedRequirement[]
  /** The payout that contains the order. */
  payout?: PayoutPlace
  /** The end of the time for votes; null when the order needs no votes. */
  expiresAt: Date | null
  /** The signature of its initiator, in a protected vault only. */
  verified?: Verified
  now: Date
}

/** The place of a transfer in the payout that it was ordered with. */
type PayoutPlace = {
  id: string
  row: number
  externalId: string
  /** SHA-256 in hex of the whole payout. */
  payloadHash: string
  /** Codes of the policies whose votes on the payout were waived. */
  bypassed: string[]
  /** The highest threshold of its policies. */
  approvalThreshold: number
}

/** The number of orders in one statement. It is small, because the text of a decision with its policies is long. */
const ordersPerStatement = 100

/**
 * Inserts the rows of orders with their audit records, and reserves their amounts: up to a hundred orders in one statement.
 * Returns the rows.
 *
 * @param parts further statements that run as parts of the same one
 */
export async function insertOrders(
  trx: Trx,
  orders: AcceptedOrder[],
  now: Date,
  parts: Part[] = [],
): Promise<ReturnType<typeof toRows>[]> {
  const rows = orders.map((order) => toRows(trx, order))
  if (orders.some(({ expiresAt }) => expiresAt === null)) wake(trx, 'deliver-transfers')
  const batches: RawBuilder<unknown>[][] = []
  for (let first = 0; first < rows.length; first += ordersPerStatement) {
    const written = rows.slice(first, first + ordersPerStatement)
    const tables = {
      operations: written.map(({ operation }) => operation),
      transfers: written.map(({ transfer }) => transfer),
      deliveries: written.map(({ delivery }) => delivery),
      audit_records: written.map(({ record }) => record),
    }
    batches.push(insertsOf(tables))
  }
  const last = batches.pop() ?? []
  for (const batch of batches) await runParts(trx, batch)
  const reservations = orders.map(({ order: { source, amount }, payload: { vaultId, transferId } }) => {
    const account = { vaultId, tokenId: source.token_id, addressId: source.address_id }
    return posting('reserve', { ...account, operationId: transferId, amount })
  })
  await postEntries(trx, reservations, now, [...last, ...parts])
  return rows
}

function toRows(trx: Trx, accepted: AcceptedOrder) {
  const transfer = toTransferRow(accepted)
  const { order, payload, decision, category, voters, expiresAt, payout, verified, now } = accepted
  const status: OperationStatus = expiresAt === null ? 'pending' : 'awaiting_approval'
  const operation = toOperation(accepted, status)
  const { vaultId, transferId: targetId, initiatorId: actorId } = payload
  const requested: RequestRecord = {
    status,
    payload,
    payloadHash: accepted.payloadHash.toString('hex'),
    decision: decision.effect,
    ...hashesOf(decision),
    requirements: voters,
    counterpartyId: order.source.counterparty?.id ?? null,
    bypassed:
      payout?.bypassed ??
      decision.requirements.filter((requirement) => requirement.bypassed).map((requirement) => requirement.policyCode),
    ...(payout === undefined ? {} : { payout: toPayoutRecord(payout) }),
    ...(verified === undefined ? {} : { signedVote: verified.hash }),
  }
  const shown = { rate: toRecordedRate(operation), metadata: toRecordedMetadata(operation), expiresAt }
  const details = { ...requested, ...shown, decisionPolicyCode: decision.decisionPolicy?.code ?? null, category }
  const event = { vaultId, actorId, action: 'transfer.requested', targetType: 'transfer', targetId, details, now }
  return { operation, transfer, delivery: toDeliveryRow(accepted), record: toAuditRow(trx, event) }
}

/** Returns the rate of an order as its record holds it. With it an evidence file proves the rate that it shows. */
const toRecordedRate = ({ usd_rate, usd_rate_as_of, usd_rate_source }: Insertable<Operations>) =>
  usd_rate == null ? null : { usdRate: usd_rate, usdRateAsOf: usd_rate_as_of, usdRateSource: usd_rate_source }
const toRecordedMetadata = ({ tags, payment_purpose, note }: Insertable<Operations>) => ({
  tags: tags ?? [],
  paymentPurpose: payment_purpose ?? null,
  note: note ?? null,
})

function toPayoutRecord({ id, row, externalId, payloadHash }: PayoutPlace): RequestRecord['payout'] {
  return { id, row, externalId, payloadHash }
}

function toOperation(
  { order, payload, metadata, now }: AcceptedOrder,
  status: OperationStatus,
): ReturnType<typeof toOperationRow> {
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

function toTransferRow(accepted: AcceptedOrder) {
  const { order, payload, payloadHash, decision, payout, expiresAt, now } = accepted
  const { source, to } = order
  const strictest = decision.requirements.find((requirement) => requirement.policyId === decision.decisionPolicy?.id)
  return {
    vault_id: payload.vaultId,
    id: payload.transferId,
    to_address: to.address,
    to_address_key: to.key,
    to_address_id: source.to_address_id,
    contract_address: source.contract_address,
    payload,
    payload_hash: payloadHash,
    fee_level: payload.feeLevel ?? null,
    max_fee: payload.maxFee ?? null,
    decision,
    decision_policy_id: decision.decisionPolicy?.id ?? null,
    decision_policy_code: decision.decisionPolicy?.code ?? null,
    decision_policy_name: decision.decisionPolicy?.name ?? null,
    approval_threshold: payout?.approvalThreshold ?? strictest?.threshold ?? 0,
    expires_at: expiresAt,
    phase: expiresAt === null ? ('queued' as const) : ('waiting' as const),
    payout_id: payout?.id ?? null,
    payout_row: payout?.row ?? null,
    external_id: payout?.externalId ?? null,
    created_at: now,
  }
}

/** Returns the place of an order in the queues. A row of a payout has no time of its own, because its payout expires. */
function toDeliveryRow({ payload: { vaultId, transferId }, payout, expiresAt, now }: AcceptedOrder) {
  const key = { vault_id: vaultId, id: transferId }
  if (expiresAt === null) return { ...key, queue: 'hand-over', next_attempt_at: now }
  return { ...key, queue: 'votes', next_attempt_at: payout === undefined ? expiresAt : null }
}
