import { sql } from 'kysely'
import { type AddressScope, visibleScopeOf } from '../../../access/address-scope.ts'
import { initiatorLeft, waiverLost } from '../../../access/refusals.ts'
import { prepared, type Trx } from '../../../db/client.ts'
import { type Columns, select } from '../../../db/columns.ts'
import type { Objection } from '../../../lib/errors.ts'
import { type AddressOwner, ownerOfAddress } from '../../address-book/counterparties/queries.ts'
import { type RecipientSigns, recipientSignsOf } from '../../address-book/recipients/queries.ts'
import { firstCategoryKeyOf } from '../../operations/assignments/queries.ts'
import { askPolicies, type SentPolicies } from '../../rules/decisions/candidates.ts'
import {
  decideBy,
  factsOfInitiator,
  type Initiator,
  type Membership,
  membershipColumn,
  toInitiator,
} from '../../rules/decisions/decide.ts'
import type { Decision, PolicySnapshot } from '../../rules/decisions/decision.ts'
import { type ActiveHold, activeHoldOn, type Touched } from '../../rules/holds/active.ts'
import type { Facts } from '../../rules/selectors/facts.ts'
import { findPermissions } from '../../vaults/addresses/queries.ts'
import { recipientFacts } from './load-order.ts'
import { asOrdered, type Gathered, notAsked, objectionsTo, type Raised } from './objections.ts'
import type { Payload } from './payload.ts'

/** A decided order, as its audit record holds it. */
type DecidedOrder = { payload: Payload; facts: Facts; isWaived: boolean }

/** The state of the vault and of the token that a payment needs, and the initiator of the payment. */
type Payable = { vault_locked: boolean; token_enabled: boolean; initiator_id: string }

type Rechecking = {
  /** The state of the signature of the order. A vote leaves it out, because the vote has checked it before. */
  signature?: Gathered['signature']
  /**
   * True to decide by the velocity sums of the order, so that transfers that were ordered while this transfer waited for the
   * wallet service do not count against it. Windows for which the order has no sum are summed now.
   */
  isSumKept: boolean
  /** The score that the screening answered after the order; null to use the score of the order. */
  riskScore?: number | null
  now: Date
}

/**
 * Returns the present objections to a decided transfer. The last vote calls it before it releases a transfer, and the hand-over before
 * it sends a transfer. The policies are asked when there is no other objection.
 *
 * @param recorded as the audit record holds it, which supplies the facts that cannot change
 */
export async function findObjections(
  trx: Trx,
  transfer: Payable,
  recorded: DecidedOrder,
  { signature = 'valid', isSumKept, riskScore = null, now }: Rechecking,
): Promise<Raised[]> {
  const { vaultId, transferId, initiatorId } = recorded.payload
  const found = await findOrderNow(trx, { vaultId, transferId, initiatorId })
  const known = { ...factsNow(transfer, found), signature }
  const raised = objectionsTo('recheck', known)
  if (raised.length > 0) return raised
  const again = await decideAgain(trx, recorded, { ...found, isSumKept, riskScore, now })
  return objectionsTo('recheck', { ...known, ...again })
}

/** Returns the first objection, which is the reason of a refusal, or null. */
export const findObjection = async (...question: Parameters<typeof findObjections>): Promise<Objection | null> =>
  (await findObjections(...question))[0] ?? null

/** Returns the present facts of an accepted transfer, before its policies are asked. */
export function factsNow(
  { vault_locked, token_enabled, initiator_id: initiatorId }: Payable,
  { owner, isFirstArchived, hold }: OrderNow,
): Gathered {
  const isArchived = isFirstArchived || (owner !== null && owner.archivedAt !== null)
  return {
    ...asOrdered,
    ...notAsked,
    isVaultLocked: vault_locked,
    archived: isArchived ? {} : null,
    token: { isEnabled: token_enabled },
    hold,
    initiatorId,
    decision: null,
  }
}

type Again = Pick<OrderNow, 'owner' | 'recipient' | 'category' | 'membership' | 'policiesOf'> & {
  isSumKept: boolean
  riskScore?: number | null
  now: Date
  /** The facts of a requested change, which replace the facts of the order. */
  changed?: Pick<Facts, 'maxFee'>
  /** True if votes may be waived for an initiator who is an administrator. */
  mayWaive?: boolean
}

/** Decides on an order again, for its initiator: by the recorded facts, and by the present state of those that can change. */
export async function decideAgain(
  trx: Trx,
  { payload, facts, isWaived }: DecidedOrder,
  {
    owner,
    recipient,
    category,
    membership,
    policiesOf,
    isSumKept,
    riskScore = null,
    now,
    changed = {},
    mayWaive = true,
  }: Again,
): Promise<DecidedAgain> {
  const { vaultId, transferId: id, fromAddressId } = payload
  const found = entitled(vaultId, toInitiator(membership), isWaived)
  if ('lost' in found) return { ...found, decision: null }
  const { initiator, scope: asInitiator } = found
  const { canTransfer, folderIds } = await findPermissions(trx, asInitiator, fromAddressId)
  if (!canTransfer) return { lost: 'The initiator may no longer transfer from this address', decision: null }
  const { velocity = [], ...lasting } = facts
  const decision = await decideBy(trx, policiesOf(initiator.groupIds), {
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
  return { decision, lost: null }
}

/** A new decision, or in `lost` the reason for which the initiator may not order any more. */
type DecidedAgain = { decision: Decision; lost: null } | { decision: null; lost: string }

/** Returns the initiator of an order and their present scope, or the reason for which they may not order any more. */
export function entitled(
  vaultId: string,
  initiator: Initiator | null,
  isWaived: boolean,
): { initiator: Initiator; scope: AddressScope } | { lost: string } {
  if (initiator === null) return { lost: initiatorLeft().message }
  if (isWaived && !initiator.isAdmin) return { lost: waiverLost().message }
  const scope = visibleScopeOf({ ...initiator, readsAll: initiator.isAdmin, vault: { id: vaultId } })
  return { initiator, scope }
}

/** SQL: the subjects whose holds stop a transfer, from its rows `o` of `operations` and `t` of `transfers`. */
export const touchedByTransfer: Touched = {
  vaultId: sql.ref('o.vault_id'),
  addressId: sql.ref('o.address_id'),
  to: { networkId: sql.ref('o.network_id'), key: sql.ref('t.to_address_key') },
  counterpartyId: sql.ref('o.counterparty_id'),
  transferId: sql.ref('o.id'),
  userIds: [sql.ref('o.initiator_id')],
}

/** SQL: the active hold that keeps a transfer from being voted on and handed over. */
export const holdOnTransfer = activeHoldOn(touchedByTransfer)

export async function findHoldOnTransfer(trx: Trx, vaultId: string, id: string): Promise<ActiveHold | null> {
  const { rows } = await sql<{ hold: ActiveHold | null }>`${prepared}
    select ${holdOnTransfer} as hold from operations o join transfers t on t.vault_id = o.vault_id and t.id = o.id
    where o.vault_id = ${vaultId} and o.id = ${id}`.execute(trx)
  return rows[0]?.hold ?? null
}

/** The facts of an accepted transfer that can change until it is sent. */
export type OrderNow = StoredNow & { policiesOf(groupIds: string[]): PolicySnapshot[] }

type StoredNow = {
  /** The counterparty that has the address of the destination. */
  owner: AddressOwner | null
  recipient: RecipientSigns
  /** True if the counterparty that had the address when the transfer was ordered is archived. */
  isFirstArchived: boolean
  /** The active hold on the transfer, or on its address, counterparty, initiator or vault. */
  hold: ActiveHold | null
  /** The key of the category of the transfer. */
  category: string | null
  /** The membership of the initiator; null when they have left the vault or are disabled. */
  membership: Membership | null
}

type TransferKey = { vaultId: string; transferId: string; initiatorId: string }

/** SQL: the columns of StoredNow, from the rows `o` and `t` of a transfer. */
const columns: Columns<StoredNow, TransferKey> = {
  hold: () => holdOnTransfer,
  category: () => firstCategoryKeyOf(sql`o.vault_id`, sql`o.id`),
  owner: () => ownerOfAddress(sql`o.vault_id`, sql`o.network_id`, sql`t.to_address_key`),
  recipient: () => recipientSignsOf(sql`o.vault_id`, sql`t.to_address_key`),
  isFirstArchived: () => sql`exists (select from counterparties c
    where c.vault_id = o.vault_id and c.id = o.counterparty_id and c.archived_at is not null)`,
  membership: ({ vaultId, initiatorId }) => membershipColumn(vaultId, initiatorId),
}

/** Reads all facts of OrderNow in one statement. */
export async function findOrderNow(trx: Trx, key: TransferKey): Promise<OrderNow> {
  const policies = askPolicies(key.vaultId, 'transfer')
  const { rows } = await sql<StoredNow & { sent: SentPolicies }>`${prepared}
    select ${select(columns, key)}, ${policies.column} as sent
    from operations o join transfers t on t.vault_id = o.vault_id and t.id = o.id
    where o.vault_id = ${key.vaultId} and o.id = ${key.transferId}`.execute(trx)
  const { sent, ...stored } = rows[0]!
  return { ...stored, policiesOf: (groupIds) => policies.read(sent, groupIds) }
}
