import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Trx } from '../../../db/client.ts'
import type { ReasonOf } from '../../../lib/reasons.ts'
import { findFirstCategoryKey } from '../../operations/assignments/queries.ts'
import { detailsOf, reasonOf, sentenceOf } from '../../rules/holds/active.ts'
import { decide, factsOfInitiator } from '../../rules/policies/decide.ts'
import type { Decision, Facts } from '../../rules/policies/decision.ts'
import { findInitiator } from '../../rules/policies/queries.ts'
import { findPermissions } from '../../vaults/addresses/queries.ts'
import type { RecordedOrder } from './compare-record.ts'
import { recipientFacts } from './load-order.ts'
import { type CounterpartyNow, findCounterpartyNow, type LockedTransfer } from './queries.ts'

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
  transfer: LockedTransfer,
  recorded: RecordedOrder,
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
  { vault_locked, token_enabled }: LockedTransfer,
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
type Again = Pick<CounterpartyNow, 'owner' | 'recipient'> & {
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
  { payload, facts, isWaived }: RecordedOrder,
  { owner, recipient, isSumKept, riskScore = null, now, changed = {}, mayWaive = true }: Again,
): Promise<{ decision: Decision } | { objection: Objection }> {
  const { vaultId, transferId: id, initiatorId, fromAddressId } = payload
  const initiator = await findInitiator(trx, vaultId, initiatorId)
  if (initiator === null) return lost('The initiator is disabled or no longer a member of the vault')
  if (isWaived && !initiator.isAdmin)
    return lost('A vote was waived for an administrator, and the initiator no longer is one')
  const asInitiator = visibleScopeOf({ ...initiator, readsAll: initiator.isAdmin, vault: { id: vaultId } })
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
      category: await findFirstCategoryKey(trx, { vault_id: vaultId, id }),
      operationId: id,
      ...changed,
    },
  })
  return { decision }
}

function lost(message: string): { objection: Objection } {
  return { objection: { reason: 'initiator_lost_permission', message } }
}
