import type { Insertable } from 'kysely'
import { type AddressScope, subjectsOf, visibleScopeOf } from '../../../access/address-scope.ts'
import { byMember, type Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import type { Operations } from '../../../db/types.ts'
import { callerHeld } from '../../../http/guard.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { type AppError, badRequest, conflict, type FieldFault, faulty, forbidden } from '../../../lib/errors.ts'
import type { FeeLevel } from '../../../lib/fee-levels.ts'
import { newId } from '../../../lib/ids.ts'
import { rawAmountMax } from '../../../lib/limits.ts'
import { formatDecimal, parseDecimal } from '../../../lib/money.ts'
import { parseOnchainAddress } from '../../../lib/onchain-address.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import type { AddressOwner } from '../../address-book/counterparties/queries.ts'
import { assignNamedCategory, findNamedCategory, type NamedCategory } from '../../operations/assignments/actions.ts'
import { type OperationStatus, toOperationRow } from '../../operations/feed/write.ts'
import { audit, toAuditRow } from '../../record/audit/record.ts'
import { notifyApprovers } from '../../record/notifications/write.ts'
import { toRateSnapshot } from '../../registry/rates/queries.ts'
import { type ActiveHold, findActiveHold, heldConflict } from '../../rules/holds/active.ts'
import { decideBy, lockCandidates, type Question } from '../../rules/policies/decide.ts'
import type { Decision, Facts } from '../../rules/policies/decision.ts'
import type { Initiator } from '../../rules/policies/queries.ts'
import type { RecordedRequirement } from '../../rules/votes/compare-record.ts'
import { openApproval } from '../../rules/votes/open.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { reservePosting } from '../ledger/postings.ts'
import { hashFacts, type RequestRecord } from './compare-record.ts'
import { hashPayload, type OrderBody, type Payload } from './payload.ts'
import { findNativeCoin, findPlainTransfer, findTransfer, lockAvailable, type TransferRow } from './queries.ts'
import { findSource, type SourceRow } from './sources.ts'

/**
 * Decides on an order and, unless it is refused, reserves its funds: everything or nothing, in `trx`. A refusal by the
 * policies writes an audit record.
 *
 * @throws as `loadOrder`; 409 for insufficient funds, an archived recipient, a disabled token or a quorum that cannot be
 *   reached: what a preview names as its problems
 */
export async function orderTransfer(
  trx: Trx,
  body: OrderBody,
  { member, now, approvalTtlHours }: { member: Member; now: Date; approvalTtlHours: number },
): Promise<{ transfer: TransferRow } | Refusal> {
  const by = byMember({ member, now })
  const scope = visibleScopeOf(member)
  const { order, category, question } = await loadOrder(trx, body, {
    scope,
    initiator: member,
    spends: true,
    locksHolds: true,
    now,
  })
  const { source, amount } = order
  assertNotArchived(order)
  if (source.token_enabled !== true) throw conflict('disabled', `The token ${source.token_code} is disabled`)

  const candidates = await lockCandidates(trx, question)
  const { available, hold } = await lockAvailable(trx, { vaultId: by.vaultId, initiatorId: member.userId, ...order })
  if (hold !== null) throw refusalOfHold(hold, member.userId)
  const facts = { ...question.facts, available: formatDecimal(available, source.decimals) }
  const decision = await decideBy(trx, candidates, { ...question, facts })
  const { effect, decisionPolicy, blockReason, requirements } = decision
  const payload = toPayload(newId(now), member, order)
  if (effect === 'block' || effect === 'deny') {
    const isBlocked = effect === 'block'
    const message = isBlocked ? (blockReason ?? 'A policy blocks this transfer') : 'No policy allows this transfer'
    const action = isBlocked ? 'transfer.blocked' : 'transfer.denied'
    const decisionPolicyCode = decisionPolicy?.code ?? null
    const details = { payload, category: question.facts.category ?? null, decisionPolicyCode, message }
    await audit(trx, by, action, { type: 'address', id: source.address_id }, details)
    return { refusal: forbidden(isBlocked ? 'blocked_by_policy' : 'no_policy_allows', message) }
  }
  if (available < amount)
    throw conflict(
      'insufficient_funds',
      'insufficient funds',
      `The address has less ${source.token_code} available than the transfer needs`,
    )

  const expiresAt = effect === 'approval' ? new Date(now.getTime() + approvalTtlHours * 3_600_000) : null
  const { metadata } = body
  await writeTransfer(trx, { order, payload, decision, metadata, expiresAt, now }, category)
  const isPlain = category === null && requirements.length === 0 && source.to_address_id === null
  const transfer = await (isPlain ? findPlainTransfer : findTransfer)(trx, member, payload.transferId)
  return { transfer: transfer! }
}

async function writeTransfer(trx: Trx, accepted: AcceptedOrder, category: NamedCategory | null): Promise<void> {
  const { order, payload, decision, expiresAt, now } = accepted
  const { vaultId, transferId: id, initiatorId } = payload
  const { requirements } = decision
  const snapshot =
    requirements.length === 0 ? [] : await openApproval(trx, { vaultId, subjectId: id, initiatorId, requirements, now })
  const { operation, transfer, requested } = toNewTransfer(accepted, snapshot)
  const record = toAuditRow({
    vaultId,
    actorId: initiatorId,
    action: 'transfer.requested',
    targetType: 'transfer',
    targetId: id,
    details: {
      ...requested,
      decisionPolicyCode: decision.decisionPolicy?.code ?? null,
      category: category?.category.key ?? null,
    },
    now,
  })
  await insertRows(trx, { operations: [operation], transfers: [transfer], audit_records: [record] })
  if (category !== null) {
    const operationKey = { vault_id: vaultId, id, type: 'transfer', created_at: now } as const
    await assignNamedCategory(trx, operationKey, category, { actorId: initiatorId, now })
  }
  if (expiresAt !== null)
    await notifyApprovers(trx, { vaultId, subjectType: 'transfer', subjectId: id, initiatorId }, now)
  const { source, amount } = order
  const reserved = { vaultId, tokenId: source.token_id, addressId: source.address_id, operationId: id, amount }
  await postEntries(trx, [reservePosting(reserved)], now)
}

/** An order that was decided and not refused. */
export type AcceptedOrder = {
  order: Order
  payload: Payload
  decision: Decision
  metadata: OrderBody['metadata']
  /** The payout that it is a row of. */
  payout?: PayoutPlace
  /** When it is rejected unless it was approved; null: it needs no votes. */
  expiresAt: Date | null
  now: Date
}

/** The place of a transfer in the payout that it was ordered with. */
export type PayoutPlace = {
  id: string
  row: number
  externalId: string
  /** SHA-256 in hex of the whole payout. */
  payloadHash: string
  /** Codes of the policies whose votes on the payout were waived. */
  bypassed: string[]
  /** The most votes that a policy asks for. */
  approvalThreshold: number
}

export function toPayload(id: string, member: Member, order: Order): Payload {
  const { source, to, amount, feeLevel, maxFee } = order
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
    ...(feeLevel === undefined ? {} : { feeLevel }),
    ...(maxFee === undefined ? {} : { maxFee: maxFee.raw.toString() }),
  }
}

/** Writes the rows of an order, and its audit record with the snapshot of its voters. */
export function toNewTransfer(accepted: AcceptedOrder, requirements: RecordedRequirement[]) {
  const transfer = toTransferRow(accepted)
  const { order, payload, decision, expiresAt, payout } = accepted
  const status: OperationStatus = expiresAt === null ? 'pending' : 'awaiting_approval'
  const requested: RequestRecord = {
    status,
    payload,
    payloadHash: transfer.payload_hash.toString('hex'),
    decision: decision.effect,
    factsHash: hashFacts(decision.facts),
    requirements,
    counterpartyId: order.source.counterparty?.id ?? null,
    bypassed: payout?.bypassed ?? decision.requirements.filter((one) => one.bypassed).map((one) => one.policyCode),
    ...(payout === undefined ? {} : { payout: toPayoutRecord(payout) }),
  }
  return { operation: toOperation(accepted, status), transfer, requested }
}

function toPayoutRecord({ id, row, externalId, payloadHash }: PayoutPlace): RequestRecord['payout'] {
  return { id, row, externalId, payloadHash }
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

function toTransferRow({ order: { source, to }, payload, decision, payout, expiresAt, now }: AcceptedOrder) {
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
    fee_level: payload.feeLevel ?? null,
    max_fee: payload.maxFee ?? null,
    decision,
    decision_policy_id: decision.decisionPolicy?.id ?? null,
    decision_policy_code: decision.decisionPolicy?.code ?? null,
    decision_policy_name: decision.decisionPolicy?.name ?? null,
    approval_threshold: payout?.approvalThreshold ?? strictest?.threshold ?? 0,
    expires_at: expiresAt,
    phase: expiresAt === null ? 'queued' : 'waiting',
    next_attempt_at: expiresAt === null ? now : null,
    payout_id: payout?.id ?? null,
    payout_row: payout?.row ?? null,
    external_id: payout?.externalId ?? null,
    created_at: now,
  }
}

type Loading = {
  /** Which source addresses the caller may name. */
  scope: AddressScope
  initiator: Initiator
  /** Whether the caller orders for themselves; a simulation may name any initiator. */
  spends: boolean
  /** Whether the order is placed, so that no hold may be placed meanwhile. */
  locksHolds?: boolean
  now: Date
}

/** An order with the facts for the policies; `category` is the one it declares. */
export type LoadedOrder = { order: Order; category: NamedCategory | null; question: Question }

/**
 * Reads everything that an order refers to, and checks it.
 *
 * @throws 400 for a wrong order, 404 for an address that the caller does not see, 403 for one they may not move funds from
 *   or a category that the initiator may not assign
 */
export async function loadOrder(
  db: Db | Trx,
  body: OrderBody,
  { scope, initiator, spends, locksHolds = false, now }: Loading,
): Promise<LoadedOrder> {
  const { vaultId } = scope
  const source = orNotFound(await findSource(db, scope, body, { now, locksHolds }), 'Address')
  // A viewer of an address may not necessarily spend from it.
  if (spends && !source.can_transfer) {
    throw forbidden(
      'not_permitted',
      'Only the owner of an address and members with a transfer grant on it may transfer from it',
    )
  }
  const order = { ...planOrder(source, body), ...(await readFeeLimits(db, source, body)) }

  const key = body.metadata?.category ?? null
  const viewer = { readsAll: initiator.isAdmin, isOwnOperation: true, subjects: subjectsOf(initiator) }
  const naming = { type: 'transfer', viewer, field: 'metadata.category' } as const
  const category = key === null ? null : await findNamedCategory(db, vaultId, { key, ...naming })
  const facts = factsOf(order, { initiator, category: category?.category.key ?? null, now })
  return { order, category, question: { vaultId, actionType: 'transfer', initiator, facts } }
}

/** A transfer order that is resolved and checked, ready for a decision. */
export type Order = {
  source: SourceRow & { token_id: string; token_code: string; decimals: number }
  to: { address: string; key: string }
  amount: bigint
  feeLevel?: FeeLevel
  /** The most that may be paid in fees: in the smallest unit of the coin, and in its units. */
  maxFee?: { raw: bigint; decimal: string }
}

/** What an order says about its fee. @throws 400 for a limit in a coin that is not registered */
async function readFeeLimits(
  db: Db | Trx,
  { network_id }: SourceRow,
  { feeLevel, maxFee }: OrderBody,
): Promise<Pick<Order, 'feeLevel' | 'maxFee'>> {
  const level = feeLevel === undefined ? {} : { feeLevel }
  if (maxFee === undefined) return level
  const raw = BigInt(maxFee)
  if (raw > rawAmountMax) throw badRequest('maxFee', 'must be at most 2^256-1')
  const coin = await findNativeCoin(db, network_id)
  if (coin === null) throw badRequest('maxFee', 'needs the coin of the network, which is not registered')
  return { ...level, maxFee: { raw, decimal: formatDecimal(raw, coin.decimals) } }
}

/** Checks an order against its source address. @throws 400 naming every wrong field */
export function planOrder(source: SourceRow, body: OrderBody): Order {
  const faults: FieldFault[] = []
  const { token_id, token_code, decimals } = source
  if (token_id === null || token_code === null || decimals === null) {
    const field = body.tokenId !== undefined ? 'tokenId' : 'token'
    const message =
      body.token === undefined && body.tokenId === undefined
        ? 'is required, because the address has no primary token'
        : 'is not a token of the network of this address'
    throw faulty([{ field, message }])
  }
  if (body.token !== undefined && body.token !== token_code)
    faults.push({ field: 'token', message: `is not the token that tokenId names, which is ${token_code}` })
  const amount = parseDecimal(body.amount, decimals)
  if (amount === null) faults.push({ field: 'amount', message: `must fit ${token_code} with its ${decimals} decimals` })
  else if (amount === 0n) faults.push({ field: 'amount', message: 'must be greater than 0' })

  const to = parseOnchainAddress(body.toAddress, source.network_type)
  if (to === null)
    faults.push({ field: 'toAddress', message: `is not a valid address of the network ${source.network_slug}` })
  else if (to.key === source.address_key)
    faults.push({ field: 'toAddress', message: 'is the address the funds come from' })
  else if (/^0x0{40}$/.test(to.key))
    faults.push({ field: 'toAddress', message: 'is the zero address, where funds are lost' })
  else if (body.counterpartyId !== undefined && body.counterpartyId !== source.counterparty?.id)
    faults.push({ field: 'counterpartyId', message: 'is not the counterparty that toAddress belongs to' })

  if (faults.length > 0 || amount === null || to === null) throw faulty(faults)
  return { source: { ...source, token_id, token_code, decimals }, to, amount }
}

/** The counterparty that has the recipient address and is archived; null: there is none. */
export function findArchivedRecipient({ source: { counterparty } }: Order): AddressOwner | null {
  return counterparty !== null && counterparty.archivedAt !== null ? counterparty : null
}

/** @throws 409 when the recipient is an archived counterparty */
export function assertNotArchived(order: Order): void {
  const archived = findArchivedRecipient(order)
  if (archived === null) return
  throw conflict('archived', 'The counterparty is archived', `toAddress belongs to ${archived.name}, which is archived`)
}

/** The active hold that forbids an order, or null; as of now, without a lock. */
export function findHoldOnOrder(
  db: Db | Trx,
  vaultId: string,
  { source, to }: Order,
  initiatorId: string,
): Promise<ActiveHold | null> {
  const { address_id: addressId, network_id: networkId } = source
  return findActiveHold(db, { vaultId, addressId, to: { networkId, key: to.key }, userIds: [initiatorId] })
}

/** 403 for the one who is held, 409 for everybody else. */
export function refusalOfHold(hold: ActiveHold, callerId: string): AppError {
  return hold.subjectType === 'user' && hold.subjectId === callerId ? callerHeld() : heldConflict(hold)
}

/** All facts of an order that policies may read. */
export function factsOf(
  { source, to, amount, maxFee }: Order,
  { initiator, category, now }: { initiator: Initiator; category: string | null; now: Date },
): Facts {
  return {
    now,
    initiatorId: initiator.userId,
    initiatorGroupIds: initiator.groupIds,
    token: { id: source.token_id, code: source.token_code },
    amount: formatDecimal(amount, source.decimals),
    ...(source.usd_rate === null ? {} : { usdRate: source.usd_rate }),
    available: formatDecimal(source.available ?? '0', source.decimals),
    networkSlug: source.network_slug,
    sourceAddressId: source.address_id,
    sourceAddress: source.address,
    addressGroupIds: source.folder_ids,
    routeVariants: source.route_variants,
    destination: { address: to.address, key: to.key, networkType: source.network_type },
    ...recipientFacts(source.to_address_id !== null, source.counterparty),
    category,
    ...(maxFee === undefined ? {} : { maxFee: maxFee.decimal }),
  }
}

/** The entry of the address book for the destination. */
export function recipientFacts(
  isInternal: boolean,
  owner: AddressOwner | null,
): Pick<Facts, 'destinationType' | 'counterparty'> {
  const destinationType = isInternal ? 'internal' : owner === null ? 'unknown' : 'counterparty'
  if (owner === null) return { destinationType, counterparty: null }
  const { id, kind, createdAt, groupIds } = owner
  return { destinationType, counterparty: { id, kind, createdAt, groupIds } }
}
