import { type AddressScope, subjectsOf, visibleScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { type AppError, conflict, forbidden, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { insertPaidRecipient } from '../../address-book/recipients/queries.ts'
import {
  assignNamedCategory,
  findNamedCategory,
  type NamedCategory,
} from '../../operations/assignments/first-category.ts'
import { moveOperation, type OperationStatus, toOperationRow } from '../../operations/feed/write.ts'
import { insertAuditRecord, toAuditRow } from '../../record/audit/record.ts'
import { notifyApprovers, notifyInitiator } from '../../record/notifications/write.ts'
import { toRateSnapshot } from '../../registry/rates/queries.ts'
import { decide, decideUnderLock } from '../../rules/policies/decide.ts'
import type { Decision } from '../../rules/policies/decision.ts'
import type { Facts } from '../../rules/policies/facts.ts'
import type { Initiator } from '../../rules/policies/queries.ts'
import { openApproval } from '../../rules/votes/open.ts'
import { listRequirements } from '../../rules/votes/queries.ts'
import { isApproved } from '../../rules/votes/tally.ts'
import { castVote, settleEntitlements } from '../../rules/votes/vote.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { type Posting, releasePosting, reservePosting, settlePosting } from '../ledger/postings.ts'
import { hashFacts, type RequestRecord } from './compare-record.ts'
import { type Alarm, haltUnlessAsRecorded } from './halt.ts'
import { nextStatus, releasesFunds, type TransferEvent } from './lifecycle.ts'
import { type Order, planOrder } from './order.ts'
import { hashPayload, type OrderBody, type Payload } from './payload.ts'
import { findSource, isTransferVisible, type LockedTransfer, lockAvailable, lockTransfer } from './queries.ts'
import { findObjection, recipientFacts } from './recheck.ts'

type TransferBody = OrderBody & {
  fromAddressId: string
  metadata?: { category?: string | null; tags?: string[]; paymentPurpose?: string | null; note?: string | null }
}

/** The answer to a request: the transfer, or a refusal that leaves an audit record behind. */
export type Outcome =
  /** `isPlain`: without category, votes or an address of the vault to go to. */
  { id: string; isPlain: boolean } | { refusal: AppError }

/**
 * Decides on an order and, when it is not refused, reserves its funds: everything or nothing, in `trx`.
 *
 * @throws 400 for a wrong order, 404 for an address the member does not see, 403 for one they may not move funds from or a
 *   category they may not assign, 409 for too little available, a
 *   disabled token or a quorum that cannot be reached
 */
export async function requestTransfer(
  trx: Trx,
  { member, body, approvalTtlHours, now }: { member: Member; body: TransferBody; approvalTtlHours: number; now: Date },
): Promise<Outcome> {
  const order = await readOrder(trx, visibleScopeOf(member), body, now, true)
  const category = await readCategory(trx, member.vault.id, member, body)
  const { source } = order
  if (source.token_enabled !== true) throw conflict(`The token ${source.token_code} is disabled`)
  let available = 0n
  const decision = await decideUnderLock(
    trx,
    questionOf(member.vault.id, member, { order, category, now }),
    async () => {
      available = await lockAvailable(trx, member.vault.id, source.address_id, source.token_id)
      return { available: formatDecimal(available, source.decimals) }
    },
  )
  const id = newId(now)
  const payload = toPayload(id, member, order)
  if (decision.effect === 'block' || decision.effect === 'deny') return refuse(trx, { member, decision, payload, now })
  if (available < order.amount)
    throw conflict('insufficient funds', `The address has less ${source.token_code} available than the transfer needs`)

  const waits = decision.effect === 'approval'
  const status: OperationStatus = waits ? 'awaiting_approval' : 'pending'
  const operation = toOperationRow({
    vaultId: member.vault.id,
    id,
    type: 'transfer',
    status,
    addressId: source.address_id,
    ownerId: source.owner_id,
    initiatorId: member.userId,
    networkId: source.network_id,
    tokenId: source.token_id,
    amount: order.amount,
    decimals: source.decimals,
    rate: toRateSnapshot(source),
    flowType: source.to_address_id === null ? 'external' : 'internal',
    counterparty: source.counterparty,
    txHash: null,
    tags: body.metadata?.tags ?? [],
    paymentPurpose: body.metadata?.paymentPurpose ?? null,
    note: body.metadata?.note ?? null,
    now,
    confirmedAt: null,
    blockchainAt: null,
  })
  const transfer = toTransferRow({
    order,
    payload,
    decision,
    expiresAt: waits ? new Date(now.getTime() + approvalTtlHours * 3_600_000) : null,
    now,
  })
  const requirements =
    decision.requirements.length === 0
      ? []
      : await openApproval(trx, {
          vaultId: member.vault.id,
          subjectId: id,
          initiatorId: member.userId,
          requirements: decision.requirements,
          now,
        })
  const requested: RequestRecord = {
    status,
    payload,
    payloadHash: transfer.payload_hash.toString('hex'),
    decision: decision.effect,
    factsHash: hashFacts(decision.facts),
    requirements,
    counterpartyId: source.counterparty?.id ?? null,
    bypassed: decision.requirements.filter((one) => one.bypassed).map((one) => one.policyCode),
  }
  const record = toAuditRow({
    vaultId: member.vault.id,
    actorId: member.userId,
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
    const named = { vault_id: member.vault.id, id, type: 'transfer', created_at: now } as const
    await assignNamedCategory(trx, named, category, { actorId: member.userId, now })
  }
  if (waits) await notifyApprovers(trx, notified(member.vault.id, id, member.userId), now)
  await postEntries(trx, [reservePosting(subjectOf(id, order, member.vault.id))], now)
  const isPlain = category === null && decision.requirements.length === 0 && source.to_address_id === null
  return { id, isPlain }
}

type NewTransfer = {
  order: Order
  payload: Payload
  decision: Decision
  /** When it is rejected for want of votes; null: it needs none. */
  expiresAt: Date | null
  now: Date
}

function toTransferRow({ order: { source, to }, payload, decision, expiresAt, now }: NewTransfer) {
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

/**
 * What would happen to an order right now; changes nothing and locks nothing.
 * @param scope which source addresses whoever asks may name
 * @param spends whether whoever asks would order it; a simulation may be about anybody
 */
export async function previewTransfer(
  db: Db,
  {
    scope,
    initiator,
    spends,
    body,
    now,
  }: { scope: AddressScope; initiator: Initiator; spends: boolean; body: TransferBody; now: Date },
) {
  const order = await readOrder(db, scope, body, now, spends)
  const category = await readCategory(db, scope.vaultId, initiator, body)
  return { order, decision: await decide(db, questionOf(scope.vaultId, initiator, { order, category, now })) }
}

/** A vote or a cancellation that found the transfer changed halts it instead: that is committed, and answered with 409. */
type Halted = { refusal: AppError }

/**
 * Records an approval. The last one needed sends the transfer on its way, after everything that could have changed
 * since was checked again: a check here only tightens.
 *
 * @throws 403 for someone who may not vote, 404, 409 when it waits no longer or must not go on
 */
export async function approveTransfer(trx: Trx, alarm: Alarm, vote: VoteOn): Promise<Halted | null> {
  const transfer = await lockWaiting(trx, vote)
  const found = await haltUnlessAsRecorded(trx, alarm, keyOf(vote))
  if ('haltReason' in found) return toRefusal(found)
  await castVote(trx, { ...voteOf(vote), decision: 'approve' })
  await recordVote(trx, vote, transfer, 'transfer.approved')
  // The requirements and votes in the tables are those on the record, as was just found.
  if (!isApproved(await listRequirements(trx, vote.member.vault.id, vote.id))) return null

  const objection = await findObjection(trx, transfer, found.order, { isSumKept: false, now: vote.now })
  if (objection !== null) throw conflict(objection.message, objection.details)
  await move(trx, { ...keyOf(vote), transfer, event: 'approved', actorId: vote.member.userId, now: vote.now })
  return null
}

/** Records a veto: one is enough, and the funds are available again. */
export async function rejectTransfer(trx: Trx, alarm: Alarm, vote: VoteOn): Promise<Halted | null> {
  const transfer = await lockWaiting(trx, vote)
  const found = await haltUnlessAsRecorded(trx, alarm, keyOf(vote))
  if ('haltReason' in found) return toRefusal(found)
  await castVote(trx, { ...voteOf(vote), decision: 'reject' })
  await recordVote(trx, vote, transfer, 'transfer.rejected')
  await move(trx, { ...keyOf(vote), transfer, event: 'rejected', actorId: vote.member.userId, now: vote.now })
  return null
}

/** Takes a transfer back, by its initiator or an administrator, as long as the wallet service has not been told. */
export async function cancelTransfer(
  trx: Trx,
  alarm: Alarm,
  { member, id, now }: { member: Member; id: string; now: Date },
): Promise<Halted | null> {
  await assertVisible(trx, member, id)
  const transfer = await lockTransfer(trx, member.vault.id, id)
  if (transfer === null) throw notFound('Transfer')
  if (transfer.initiator_id !== member.userId && !member.isAdmin) {
    throw forbidden('Only the initiator or an administrator may cancel a transfer')
  }
  assertNotHalted(transfer)
  if (transfer.status === 'pending' && transfer.phase !== 'queued') {
    throw conflict('The transfer was handed to the wallet service already')
  }
  const key = { vaultId: member.vault.id, id }
  const movement: Movement = { ...key, transfer, event: 'cancelled', actorId: member.userId, now }
  assertMovable(movement)
  const found = await haltUnlessAsRecorded(trx, alarm, key)
  if ('haltReason' in found) return toRefusal(found)
  await move(trx, movement)
  return null
}

type Movement = {
  vaultId: string
  id: string
  transfer: LockedTransfer
  event: TransferEvent
  actorId: string | null
  now: Date
  failureReason?: string
  txHash?: string | null
  blockchainAt?: Date | null
  /** Postings that belong to the same moment, such as the network fee. */
  extraPostings?: Posting[]
}

/**
 * Moves a locked transfer on, with what follows from it: the release of its funds, its delivery, its audit record.
 * @throws 409 when the event is not possible in the status it has
 */
export async function move(trx: Trx, movement: Movement): Promise<void> {
  const { vaultId, id, transfer, event, actorId, now } = movement
  const to = assertMovable(movement)
  const moved = await moveOperation(trx, {
    vaultId,
    id,
    from: transfer.status,
    to,
    now,
    txHash: movement.txHash ?? null,
    blockchainAt: movement.blockchainAt ?? null,
  })
  if (!moved) throw conflict('The transfer was resolved by someone else')
  const subject = {
    vaultId,
    tokenId: transfer.token_id,
    addressId: transfer.address_id,
    operationId: id,
    amount: transfer.amount,
  }
  const resolution = to === 'confirmed' ? [settlePosting(subject)] : releasesFunds(to) ? [releasePosting(subject)] : []
  await postEntries(trx, [...resolution, ...(movement.extraPostings ?? [])], now)
  if (to === 'confirmed') await insertPaidRecipient(trx, vaultId, id)
  await trx
    .updateTable('transfers')
    .set(
      to === 'pending'
        ? { phase: 'queued', next_attempt_at: now }
        : { phase: 'done', next_attempt_at: null, failure_reason: movement.failureReason ?? null },
    )
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .modifyEnd(prepared)
    .execute()
  await insertAuditRecord(trx, {
    vaultId,
    actorId,
    action: `transfer.${event === 'approved' ? 'released' : event === 'rejected' ? 'vetoed' : event}`,
    targetType: 'transfer',
    targetId: id,
    details: { from: transfer.status, to, reason: movement.failureReason ?? null, txHash: movement.txHash ?? null },
    now,
  })
  if (transfer.status === 'awaiting_approval') {
    await settleEntitlements(trx, vaultId, id)
    await notifyInitiator(trx, notified(vaultId, id, transfer.initiator_id), actorId, now)
  }
}

function assertMovable({ transfer: { status }, event }: Movement): OperationStatus {
  const to = nextStatus(status, event)
  if (to === null) throw conflict(`The transfer is ${status} and cannot be ${event}`)
  return to
}

const notified = (vaultId: string, subjectId: string, initiatorId: string) =>
  ({ vaultId, subjectType: 'transfer', subjectId, initiatorId }) as const

export type VoteOn = { member: Member; id: string; comment: string | null; now: Date }

const keyOf = ({ member, id }: VoteOn) => ({ vaultId: member.vault.id, id })

function voteOf({ member, id, comment, now }: VoteOn) {
  return { vaultId: member.vault.id, subjectId: id, userId: member.userId, comment, now }
}

async function lockWaiting(trx: Trx, { member, id, now }: VoteOn): Promise<LockedTransfer> {
  await assertVisible(trx, member, id)
  const transfer = await lockTransfer(trx, member.vault.id, id)
  if (transfer === null) throw notFound('Transfer')
  if (transfer.status !== 'awaiting_approval')
    throw conflict(`The transfer is ${transfer.status}, not awaiting approval`)
  if (transfer.expires_at !== null && transfer.expires_at <= now)
    throw conflict('The time to approve this transfer is over')
  assertNotHalted(transfer)
  return transfer
}

function assertNotHalted({ phase, halt_reason }: LockedTransfer): void {
  if (phase === 'halted') throw conflict('The transfer is halted', halt_reason ?? undefined)
}

function toRefusal({ haltReason }: { haltReason: string }): Halted {
  return { refusal: conflict('The transfer is halted', haltReason) }
}

async function assertVisible(trx: Trx, member: Member, id: string): Promise<void> {
  if (!(await isTransferVisible(trx, member, id))) throw notFound('Transfer')
}

async function recordVote(
  trx: Trx,
  { member, id, comment, now }: VoteOn,
  transfer: LockedTransfer,
  action: string,
): Promise<void> {
  await insertAuditRecord(trx, {
    vaultId: member.vault.id,
    actorId: member.userId,
    action,
    targetType: 'transfer',
    targetId: id,
    details: { comment, payloadHash: transfer.payload_hash.toString('hex') },
    now,
  })
}

/** When it `spends`, only for whoever may move the funds: to see an address is not enough. */
async function readOrder(
  db: Db | Trx,
  scope: AddressScope,
  body: TransferBody,
  now: Date,
  spends: boolean,
): Promise<Order> {
  const source = await findSource(db, scope, body.fromAddressId, body, now)
  if (source === null) throw notFound('Address')
  if (spends && !source.can_transfer) {
    throw forbidden('Only the owner of an address and whoever they grant it to may move its funds')
  }
  return planOrder(source, body)
}

/**
 * The category that an order declares, as far as its initiator may assign it so.
 * @throws 400 with the field `metadata.category`, 403
 */
async function readCategory(
  db: Db | Trx,
  vaultId: string,
  initiator: Initiator,
  { metadata }: TransferBody,
): Promise<NamedCategory | null> {
  const key = metadata?.category ?? null
  if (key === null) return null
  const standing = { isAdmin: initiator.isAdmin, isOwnOperation: true, subjects: subjectsOf(initiator) }
  return findNamedCategory(db, vaultId, { key, type: 'transfer', standing, field: 'metadata.category' })
}

type Declared = { order: Order; category: NamedCategory | null; now: Date }

/** What the policies are asked about an order, with all they may look at. */
function questionOf(vaultId: string, initiator: Initiator, { order: { source, to, amount }, category, now }: Declared) {
  const facts: Facts = {
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
    category: category?.category.key ?? null,
  }
  return { vaultId, actionType: 'transfer', initiator, facts }
}

type Refusal = { member: Member; decision: Decision; payload: Payload; now: Date }

async function refuse(trx: Trx, { member, decision, payload, now }: Refusal): Promise<Outcome> {
  const message =
    decision.effect === 'block'
      ? (decision.blockReason ?? 'A policy blocks this transfer')
      : 'No policy allows this transfer'
  await insertAuditRecord(trx, {
    vaultId: member.vault.id,
    actorId: member.userId,
    action: decision.effect === 'block' ? 'transfer.blocked' : 'transfer.denied',
    targetType: 'address',
    targetId: payload.fromAddressId,
    details: {
      payload,
      category: decision.facts.category ?? null,
      decisionPolicyCode: decision.decisionPolicy?.code ?? null,
      message,
    },
    now,
  })
  return { refusal: forbidden(message) }
}

function toPayload(id: string, member: Member, { source, to, amount }: Order): Payload {
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

function subjectOf(id: string, { source, amount }: Order, vaultId: string) {
  return { vaultId, tokenId: source.token_id, addressId: source.address_id, operationId: id, amount }
}
