import { sql } from 'kysely'
import type { ByMember } from '../../../access/caller.ts'
import { prepared, type Trx } from '../../../db/client.ts'
import { insertsOf, type Part, runParts } from '../../../db/insert-rows.ts'
import type { Deps } from '../../../deps.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { conflict, type Objection, refusalFor } from '../../../lib/errors.ts'
import { listFirstCategoryKeys } from '../../operations/assignments/queries.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import type { TargetRecord } from '../../record/audit/record.ts'
import { toAuditRow } from '../../record/audit/record.ts'
import { notifyOfStop } from '../../record/notifications/notification-rows.ts'
import { askPolicies, type SentPolicies } from '../../rules/decisions/candidates.ts'
import { factsOfInitiator, membershipColumn, toInitiator } from '../../rules/decisions/decide.ts'
import { decideBatch } from '../../rules/decisions/decide-batch.ts'
import type { ActiveHold } from '../../rules/holds/active.ts'
import { type CancelSignature, takeCancellation } from '../../rules/signatures/take.ts'
import {
  assertMayCancel,
  type Ballot,
  closing,
  type RecordedSubject,
  stopUnlessAsRecorded,
  type VotableSubject,
  voteOn,
} from '../../rules/votes/ballot.ts'
import { expireDue } from '../../rules/votes/expire.ts'
import type { VoteChoice } from '../../rules/votes/tally.ts'
import { findSources } from '../orders/gather.ts'
import { recipientFacts } from '../orders/load-order.ts'
import { asOrdered, type Gathered, notAsked, objectionsTo, type Raised } from '../orders/objections.ts'
import { entitled, holdOnTransfer, type OrderNow } from '../orders/recheck.ts'
import { compareWithRecord as compareTransfer, type RecordedOrder } from '../transfers/compare-order.ts'
import { haltWaitingTransfers, moveWaitingTransfers, type PayoutEvent } from '../transfers/move.ts'
import { type LockedTransfer, listStoredOrders, lockTransfersOf, type StoredOrder } from '../transfers/queries.ts'
import { assertAwaiting, mustBeSigned } from '../transfers/transfer-votes.ts'
import { compareWithRecord } from './compare-payout.ts'
import {
  hasTransferHeld,
  type LockedPayout,
  listDuePayouts,
  listStoredPayouts,
  lockPayout,
  lockVisiblePayout,
  type StoredPayout,
} from './queries.ts'
import type { PayoutStatus } from './schema.ts'

/** A payout with its transfers and their audit records. */
type Stored = { payout: StoredPayout; orders: StoredOrder[]; records: TargetRecord[] }
type Recorded = { isWaived: boolean; orders: RecordedOrder[] }

/** Compares payouts and all of their transfers with their audit records; a payout that differs is halted with its transfers. */
const recordedPayouts = (log: Deps['log']): RecordedSubject<LockedPayout, Stored, Recorded> => ({
  type: 'payout',
  noun: 'payout',
  async listStored(trx, vaultId, ids, column) {
    const payouts = await listStoredPayouts(trx, vaultId, ids, column)
    const transferIds = payouts.flatMap(({ rows }) => rows.map(({ transferId }) => transferId))
    const unsorted = await listStoredOrders(trx, vaultId, transferIds)
    const orders = unsorted.toSorted((a, b) => (a.payout_row ?? 0) - (b.payout_row ?? 0))
    const records = await listRecordsOf(trx, vaultId, 'transfer', transferIds)
    return payouts.map(({ beside, ...payout }) => ({ id: payout.id, payout, orders, records, beside }))
  },
  compare({ payout, orders, records }, ofPayout) {
    const compared = compareWithRecord(payout, ofPayout)
    return 'difference' in compared ? compared : compareTransfers(orders, records, compared.recorded)
  },
  async stop(trx, payout, reason, now) {
    const { vault_id: vaultId, id } = payout
    log.error({ payoutId: id, vaultId, reason }, 'payout halted')
    await haltWaitingTransfers(trx, await lockTransfersOf(trx, vaultId, id), reason, now)
    await runParts(trx, payoutMoved(trx, payout, 'halted', { actorId: null, now, haltReason: reason }))
    await notifyOfStop(trx, { vaultId, subjectType: 'payout', subjectId: id }, now)
    return conflict('payout_halted', 'The payout is halted', reason)
  },
})

function compareTransfers(
  orders: StoredOrder[],
  records: TargetRecord[],
  { isWaived }: { isWaived: boolean },
): { recorded: Recorded } | { difference: string } {
  const recordsOf = new Map<string, TargetRecord[]>(orders.map(({ id }) => [id, []]))
  for (const record of records) recordsOf.get(record.targetId)?.push(record)
  const recorded: RecordedOrder[] = []
  for (const order of orders) {
    const compared = compareTransfer(order, recordsOf.get(order.id)!)
    if ('difference' in compared) return { difference: `transfer ${order.id}: ${compared.difference}` }
    recorded.push(compared.recorded)
  }
  return { recorded: { isWaived, orders: recorded } }
}

/** SQL: JSON of the active hold on the first held row of a payout, which forbids votes on the whole payout. */
const holdOnTransfersOf = ({ vault_id, id }: LockedPayout) => sql<ActiveHold | null>`(
  select stopped.hold::jsonb || jsonb_build_object('row', stopped.row) from (
    select ${holdOnTransfer} as hold, t.payout_row as row
    from transfers t join operations o on o.vault_id = t.vault_id and o.id = t.id
    where t.vault_id = ${vault_id} and t.payout_id = ${id}) stopped
  where stopped.hold is not null order by stopped.row limit 1)`

/** Payouts as a votable subject. */
const votablePayouts = (log: Deps['log']): VotableSubject<LockedPayout, Stored, Recorded> => ({
  ...recordedPayouts(log),
  lock: lockVisiblePayout,
  holdOn: holdOnTransfersOf,
  assertOpen(payout, now) {
    assertNotHalted(payout)
    assertAwaiting('payout', payout, now)
  },
  mustBeSigned: ({ orders }, member) => mustBeSigned('payout', orders[0]!.payload, member),
  toVoteRecord: (decision) => ({ action: 'payout.voted', details: { decision } }),
  async onApproved(trx, payout, { member, now, recorded, parts }) {
    const transfers = await lockTransfersOf(trx, payout.vault_id, payout.id)
    const objection = await findPayoutObjection(trx, payout, { transfers, ...recorded }, now)
    if (objection !== null) throw refusalFor(objection)
    await resolveWith(trx, payout, transfers, { event: 'approved', actorId: member.userId, now, parts })
    return null
  },
  onRejected: (trx, payout, { member, now, parts }) =>
    resolvePayout(trx, payout, { event: 'rejected', actorId: member.userId, now, parts }),
})

/**
 * Records an approval or a veto: the last required approval queues all transfers for delivery, and a veto releases their
 * funds. A payout that differs from its audit records halts instead, which is committed and answered with 409.
 *
 * @throws as `voteOn`
 */
export function voteOnPayout(trx: Trx, log: Deps['log'], decision: VoteChoice, ballot: Ballot) {
  return voteOn(trx, votablePayouts(log), decision, ballot)
}

/**
 * Compares a locked payout that is to be cancelled with its audit records. Returns the refusal of a payout that differs and is
 * halted. @throws 409 when a transfer of it is itself held
 */
export async function refusalToCancel(
  trx: Trx,
  log: Deps['log'],
  payout: LockedPayout,
  now: Date,
): Promise<Refusal | null> {
  if (await hasTransferHeld(trx, payout)) throw conflict('held', 'A hold on a transfer of the payout stops this')
  const compared = await stopUnlessAsRecorded(trx, recordedPayouts(log), payout, now)
  return 'refusal' in compared ? compared : null
}

/** The payout that replaces another payout. `leftOut` are the numbers of the rows that it leaves out. */
export type Replacement = { replacedBy: string; leftOut: number[] }

/** Cancels a waiting payout that is replaced. `replacement` takes over the external ids of all rows that it does not leave out. */
export async function cancelReplaced(
  trx: Trx,
  payout: LockedPayout,
  { replacement, signature, ...by }: ByMember & { replacement: Replacement; signature: CancelSignature },
): Promise<void> {
  const { vault_id: vaultId, id, payload_hash } = payout
  const { member, now } = by
  const cancelled = { subject: 'payout', subjectId: id, hash: payload_hash.toString('hex'), member, now } as const
  const parts = await takeCancellation(trx, signature, cancelled)
  await resolvePayout(trx, payout, { event: 'cancelled', actorId: member.userId, now, parts, replacement })
  await sql`update transfers set is_replaced = true where vault_id = ${vaultId} and payout_id = ${id}
    and payout_row <> all(${replacement.leftOut}::int[])`.execute(trx)
}

/** Cancels a waiting payout for its initiator or an administrator. @throws 403, 404, 409 */
export async function cancelPayout(
  trx: Trx,
  log: Deps['log'],
  id: string,
  { member, now, signature }: ByMember & { signature: CancelSignature },
): Promise<Refusal | null> {
  const payout = await lockVisiblePayout(trx, member, id)
  assertMayCancel('payout', payout, member)
  assertNotHalted(payout)
  if (payout.status !== 'awaiting_approval')
    throw conflict('wrong_state', `The payout is ${payout.status} and cannot be cancelled`)
  const differs = await refusalToCancel(trx, log, payout, now)
  if (differs !== null) return differs
  const hash = payout.payload_hash.toString('hex')
  const parts = await takeCancellation(trx, signature, { subject: 'payout', subjectId: id, hash, member, now })
  await resolvePayout(trx, payout, { event: 'cancelled', actorId: member.userId, now, parts })
  return null
}

export function assertNotHalted({ status, halt_reason }: LockedPayout): void {
  if (status === 'halted') throw conflict('payout_halted', 'The payout is halted', halt_reason ?? undefined)
}

type By = { actorId: string | null; now: Date }

/** `parts` are further statements that run within the same statement. */
type Resolution = By & { event: PayoutEvent; parts: Part[]; replacement?: Replacement }

/** Resolves a locked payout that was compared with its record: its transfers, its status, its audit record and its mail. */
async function resolvePayout(trx: Trx, payout: LockedPayout, resolution: Resolution): Promise<void> {
  await resolveWith(trx, payout, await lockTransfersOf(trx, payout.vault_id, payout.id), resolution)
}

/** Resolves a locked payout as `resolvePayout` does, with its locked transfers. */
async function resolveWith(
  trx: Trx,
  payout: LockedPayout,
  transfers: LockedTransfer[],
  { event, parts, replacement, ...by }: Resolution,
): Promise<void> {
  const reason = event === 'expired' ? { failureReason: 'APPROVAL_EXPIRED' } : {}
  await moveWaitingTransfers(trx, transfers, { event, ...by, ...reason }, [
    ...parts,
    ...payoutMoved(trx, payout, event, { ...by, ...(replacement === undefined ? {} : { replacement }) }),
    ...closing(trx, 'payout', payout, by.actorId, by.now),
  ])
}

/** SQL: moves a payout by compare-and-set, with its audit record. */
function payoutMoved(
  trx: Trx,
  { vault_id: vaultId, id, status, payload_hash }: LockedPayout,
  to: PayoutStatus,
  { actorId, now, haltReason = null, replacement }: By & { haltReason?: string | null; replacement?: Replacement },
): Part[] {
  const update = sql`
    update payouts set status = ${to}, halt_reason = ${haltReason}, resolved_at = ${now}, updated_at = ${now},
      replaced_by = ${replacement?.replacedBy ?? null}
    where vault_id = ${vaultId} and id = ${id} and status = ${status} returning id`
  const otherwise = () => conflict('wrong_state', 'The payout was resolved by someone else')
  const details = { payloadHash: payload_hash.toString('hex'), reason: haltReason, ...replacement }
  const event = { vaultId, actorId, now, action: `payout.${to}`, targetType: 'payout', targetId: id, details }
  return [{ update, rows: 1, otherwise }, ...insertsOf({ audit_records: [toAuditRow(trx, event)] })]
}

/** Ends the payouts that were not approved in time and releases their funds. */
export function expirePayouts(deps: Deps): Promise<void> {
  return expireDue(deps, {
    noun: 'payout',
    listDue: listDuePayouts,
    lock: lockPayout,
    async expire(trx, payout, now) {
      if (payout.status !== 'awaiting_approval' || (await hasTransferHeld(trx, payout))) return
      const compared = await stopUnlessAsRecorded(trx, recordedPayouts(deps.log), payout, now)
      if ('refusal' in compared) return
      await resolvePayout(trx, payout, { event: 'expired', actorId: null, now, parts: [] })
    },
  })
}

/**
 * Returns the present objection to a payout, or null. The last vote checks all rows at once, with the same questions as
 * `findObjection` for one transfer. The hand-over asks them again for each transfer.
 *
 * @param orders the orders of the audit records, which supply the facts that cannot change
 */
async function findPayoutObjection(
  trx: Trx,
  payout: LockedPayout,
  { transfers, orders, isWaived }: { transfers: LockedTransfer[]; orders: RecordedOrder[]; isWaived: boolean },
  now: Date,
): Promise<Objection | null> {
  const { vault_id: vaultId, initiator_id: initiatorId } = payout
  const { isFirstArchived, hold, membership, policiesOf } = await findPayoutNow(trx, payout)
  const known: Gathered = {
    ...asOrdered,
    ...notAsked,
    noun: 'this payout',
    isVaultLocked: transfers.every(({ vault_locked }) => vault_locked),
    archived: isFirstArchived ? {} : null,
    token: { isEnabled: transfers.every(({ token_enabled }) => token_enabled) },
    hold,
    initiatorId,
    decision: null,
  }
  const before = firstObjection(known)
  if (before !== null) return before
  const found = entitled(vaultId, toInitiator(membership), isWaived)
  if ('lost' in found) return firstObjection({ ...known, ...found })
  const { initiator, scope } = found
  const bodies = orders.map(({ payload: { fromAddressId, toAddress, tokenId, amount } }) => {
    return { fromAddressId, toAddress, tokenId, amount }
  })
  const sources = await findSources(trx, scope, bodies, { now })
  const isArchived = sources.some((source) => source?.counterparty != null && source.counterparty.archivedAt !== null)
  const isLost = sources.some((source) => source === null || !source.can_transfer)
  const lost = isLost ? 'The initiator may no longer transfer from an address of the payout' : null
  const read = { ...known, lost, archived: isArchived ? {} : null }
  const afterwards = firstObjection(read)
  if (afterwards !== null) return afterwards
  const categories = await listFirstCategoryKeys(
    trx,
    vaultId,
    orders.map(({ payload }) => payload.transferId),
  )
  const question = {
    vaultId,
    actionType: 'transfer',
    initiator,
    orders: orders.map(({ payload: { transferId }, facts: { velocity: _, ...lasting } }, i) => ({
      ...lasting,
      ...recipientFacts(lasting.destinationType === 'internal', sources[i]!.counterparty, sources[i]!.recipient),
      ...factsOfInitiator(initiator, now),
      addressGroupIds: sources[i]!.folder_ids,
      category: categories.get(transferId) ?? null,
      operationId: transferId,
    })),
  }
  const decision = await decideBatch(trx, policiesOf(initiator.groupIds), question, { areStored: true })
  const details = decision.blockReason === null ? null : `Row ${decision.decisive.order + 1}: ${decision.blockReason}`
  return firstObjection({ ...read, decision: { effect: decision.effect, blockReason: details } })
}

type PayoutNow = Pick<OrderNow, 'isFirstArchived' | 'hold' | 'membership' | 'policiesOf'>

/** Reads in one statement the facts of an accepted payout that can change, as `findOrderNow` does for a transfer. */
async function findPayoutNow(trx: Trx, payout: LockedPayout): Promise<PayoutNow> {
  const { vault_id: vaultId, id, initiator_id: initiatorId } = payout
  const policies = askPolicies(vaultId, 'transfer')
  const { rows } = await sql<Omit<PayoutNow, 'policiesOf'> & { sent: SentPolicies }>`${prepared}
    select ${holdOnTransfersOf(payout)} as hold, ${membershipColumn(vaultId, initiatorId)} as membership,
      ${policies.column} as sent, exists (
        select from transfers t join operations o on o.vault_id = t.vault_id and o.id = t.id
        join counterparties c on c.vault_id = o.vault_id and c.id = o.counterparty_id and c.archived_at is not null
        where t.vault_id = ${vaultId} and t.payout_id = ${id}) as "isFirstArchived"`.execute(trx)
  const { sent, ...stored } = rows[0]!
  return { ...stored, policiesOf: (groupIds) => policies.read(sent, groupIds) }
}

/** The messages of objections to a payout that concern some of its rows. */
const messages: Partial<Record<Raised['reason'], string>> = {
  archived: 'The counterparty of a row is archived',
  disabled: 'The token of a row is disabled',
}

function firstObjection(facts: Gathered): Objection | null {
  const [first] = objectionsTo('recheck', facts)
  return first === undefined ? null : { ...first, message: messages[first.reason] ?? first.message }
}
