import { sql } from 'kysely'
import { type AddressScope, visibleScopeOf } from '../../../access/address-scope.ts'
import { initiatorLeft, waiverLost } from '../../../access/refusals.ts'
import type { Trx } from '../../../db/client.ts'
import type { ReasonOf } from '../../../lib/reasons.ts'
import { type AddressOwner, ownerOfAddress } from '../../address-book/counterparties/queries.ts'
import { type RecipientSigns, recipientSignsOf } from '../../address-book/recipients/queries.ts'
import { firstCategoryKeyOf } from '../../operations/assignments/queries.ts'
import { findInitiator, type Initiator } from '../../rules/decisions/candidates.ts'
import { decide, factsOfInitiator } from '../../rules/decisions/decide.ts'
import type { Decision } from '../../rules/decisions/decision.ts'
import { type ActiveHold, activeHoldOn, detailsOf, reasonOf, sentenceOf } from '../../rules/holds/active.ts'
import type { Facts } from '../../rules/selectors/facts.ts'
import { findPermissions } from '../../vaults/addresses/queries.ts'
import { recipientFacts } from './load-order.ts'
import type { Payload } from './payload-schema.ts'

/** A decided order, as its audit record holds it. */
export type DecidedOrder = { payload: Payload; facts: Facts; isWaived: boolean }

/** The states of vault and token that a payment needs. */
type Payable = { vault_locked: boolean; token_enabled: boolean }

export type Objection = { reason: ReasonOf<409>; message: string; details?: string | undefined }

/**
 * The objection to a decided transfer now, or null: checked by the last vote before it releases a transfer, and by the
 * hand-over before it sends one. The check only tightens: a policy that allows less than before does not stop the
 * transfer, one that blocks does.
 *
 * @param order as the audit record holds it, which supplies the facts that cannot change
 * @param isSumKept whether velocity stays as it was when the transfer was ordered, so that transfers that were ordered
 *   while this one waited for the wallet service do not count against it; limits over other windows are summed now
 * @param riskScore what the screening has answered since; null: the score of the order counts, if it has one
 */
export async function findObjection(
  trx: Trx,
  transfer: Payable,
  recorded: DecidedOrder,
  { isSumKept, riskScore = null, now }: { isSumKept: boolean; riskScore?: number | null; now: Date },
): Promise<Objection | null> {
  const { vaultId, transferId } = recorded.payload
  const counterparty = await findCounterpartyNow(trx, vaultId, transferId)
  const obstacle = findObstacle(transfer, counterparty)
  if (obstacle !== null) return obstacle
  const again = await decideAgain(trx, recorded, { ...counterparty, isSumKept, riskScore, now })
  if ('objection' in again) return again.objection
  const { effect, blockReason } = again.decision
  if (effect !== 'block') return null
  return {
    reason: 'blocked_by_policy_now',
    message: 'A policy blocks this transfer now',
    details: blockReason ?? undefined,
  }
}

/** What forbids to pay, whoever ordered it and whatever the policies say; null: nothing. */
export function findObstacle(
  { vault_locked, token_enabled }: Payable,
  { owner, isFirstArchived, hold }: CounterpartyNow,
): Objection | null {
  if (!vault_locked) return { reason: 'vault_is_draft', message: 'The vault is not locked' }
  if (!token_enabled) return { reason: 'disabled', message: 'The token is disabled' }
  if (hold !== null) return { reason: reasonOf(hold), message: sentenceOf(hold), details: detailsOf(hold) }
  if (isFirstArchived || (owner !== null && owner.archivedAt !== null))
    return { reason: 'archived', message: 'The counterparty is archived' }
  return null
}

/** With the present entry of the address book for the destination. */
type Again = Pick<CounterpartyNow, 'owner' | 'recipient' | 'category'> & {
  isSumKept: boolean
  riskScore?: number | null
  now: Date
  /** What is asked for instead of what was ordered. */
  changed?: Pick<Facts, 'maxFee'>
  /** Whether votes may be waived for an initiator who is an administrator. */
  mayWaive?: boolean
}

/** Decides on an order once more, for its initiator: by the recorded facts, and by what can change as it is now. */
export async function decideAgain(
  trx: Trx,
  { payload, facts, isWaived }: DecidedOrder,
  { owner, recipient, category, isSumKept, riskScore = null, now, changed = {}, mayWaive = true }: Again,
): Promise<{ decision: Decision } | { objection: Objection }> {
  const { vaultId, transferId: id, initiatorId, fromAddressId } = payload
  const found = await findEntitled(trx, vaultId, initiatorId, isWaived)
  if ('objection' in found) return found
  const { initiator, scope: asInitiator } = found
  const { canTransfer, folderIds } = await findPermissions(trx, asInitiator, fromAddressId)
  if (!canTransfer) return lost('The initiator may no longer transfer from this address')
  const { velocity = [], ...lasting } = facts
  const decision = await decide(trx, {
    vaultId,
    actionType: 'transfer',
    initiator: { ...initiator, isAdmin: initiator.isAdmin && mayWaive },
    facts: {
      ...lasting,
      ...(isSumKept ? { velocity } : {}),
      ...(riskScore === null ? {} : { riskScore: String(riskScore) }),
      ...recipientFacts(facts.destinationType === 'internal', owner, recipient),
      ...factsOfInitiator(initiator, now),
      addressGroupIds: folderIds,
      category,
      operationId: id,
      ...changed,
    },
  })
  return { decision }
}

/** Who ordered something, and what they see now, or why they may not order it any more. */
export async function findEntitled(
  trx: Trx,
  vaultId: string,
  initiatorId: string,
  isWaived: boolean,
): Promise<{ initiator: Initiator; scope: AddressScope } | { objection: Objection }> {
  const initiator = await findInitiator(trx, vaultId, initiatorId)
  if (initiator === null) return lost(initiatorLeft().message)
  if (isWaived && !initiator.isAdmin) return lost(waiverLost().message)
  const scope = visibleScopeOf({ ...initiator, readsAll: initiator.isAdmin, vault: { id: vaultId } })
  return { initiator, scope }
}

export function lost(message: string): { objection: Objection } {
  return { objection: { reason: 'initiator_lost_permission', message } }
}

/** SQL: the active hold that keeps a transfer from being voted on and handed over, from `o` and `t`, its two rows. */
export const holdOnTransfer = activeHoldOn({
  vaultId: sql.ref('o.vault_id'),
  addressId: sql.ref('o.address_id'),
  to: { networkId: sql.ref('o.network_id'), key: sql.ref('t.to_address_key') },
  counterpartyId: sql.ref('o.counterparty_id'),
  transferId: sql.ref('o.id'),
  userIds: [sql.ref('o.initiator_id')],
})

export async function findHoldOnTransfer(trx: Trx, vaultId: string, id: string): Promise<ActiveHold | null> {
  const { rows } = await sql<{ hold: ActiveHold | null }>`
    select ${holdOnTransfer} as hold from operations o join transfers t on t.vault_id = o.vault_id and t.id = o.id
    where o.vault_id = ${vaultId} and o.id = ${id}`.execute(trx)
  return rows[0]?.hold ?? null
}

/** The active hold on any transfer of a payout, which forbids to vote on all of it. */
export async function findHoldOnTransfersOf(trx: Trx, vaultId: string, payoutId: string): Promise<ActiveHold | null> {
  const { rows } = await sql<{ hold: ActiveHold }>`
    select h.hold from transfers t join operations o on o.vault_id = t.vault_id and o.id = t.id
    cross join lateral (select ${holdOnTransfer} as hold) h
    where t.vault_id = ${vaultId} and t.payout_id = ${payoutId} and h.hold is not null limit 1`.execute(trx)
  return rows[0]?.hold ?? null
}

export type CounterpartyNow = {
  owner: AddressOwner | null
  recipient: RecipientSigns
  isFirstArchived: boolean
  hold: ActiveHold | null
  /** The key of the category of the transfer. */
  category: string | null
}

/**
 * The address book's current entry for a transfer's destination: the counterparty that has the address, and whether the
 * counterparty that had it when the transfer was ordered is archived; and the active hold on the transfer or what it touches.
 */
export async function findCounterpartyNow(trx: Trx, vaultId: string, id: string): Promise<CounterpartyNow> {
  const { rows } = await sql<CounterpartyNow>`
    select ${holdOnTransfer} as hold, ${firstCategoryKeyOf(vaultId, id)} as category,
      ${ownerOfAddress(sql`o.vault_id`, sql`o.network_id`, sql`t.to_address_key`)} as owner,
      ${recipientSignsOf(sql`o.vault_id`, sql`t.to_address_key`)} as recipient,
      exists (select from counterparties c
        where c.vault_id = o.vault_id and c.id = o.counterparty_id and c.archived_at is not null) as "isFirstArchived"
    from operations o join transfers t on t.vault_id = o.vault_id and t.id = o.id
    where o.vault_id = ${vaultId} and o.id = ${id}`.execute(trx)
  return rows[0]!
}
