import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Trx } from '../../../db/client.ts'
import type { ReasonOf } from '../../../lib/reasons.ts'
import { findFirstCategoryKey } from '../../operations/assignments/queries.ts'
import { detailsOf, sentenceOf } from '../../rules/holds/active.ts'
import { decide } from '../../rules/policies/decide.ts'
import { findInitiator } from '../../rules/policies/queries.ts'
import { findPermissions } from '../../vaults/addresses/queries.ts'
import type { RecordedOrder } from './compare-record.ts'
import { recipientFacts } from './load-order.ts'
import { findCounterpartyNow, type LockedTransfer } from './queries.ts'

export type Objection = { reason: ReasonOf<409>; message: string; details?: string | undefined }

/**
 * The objection to a decided transfer now, or null: checked by the last vote before it releases a transfer, and by the
 * hand-over before it sends one. The check only tightens: a policy that allows less than before does not stop the
 * transfer, one that blocks does.
 *
 * @param order as the audit record holds it, which supplies the facts that cannot change
 * @param isSumKept whether velocity stays as it was when the transfer was ordered, so that transfers that were ordered
 *   while this one waited for the wallet service do not count against it; limits over other windows are summed now
 */
export async function findObjection(
  trx: Trx,
  transfer: LockedTransfer,
  { payload, facts, isWaived }: RecordedOrder,
  { isSumKept, now }: { isSumKept: boolean; now: Date },
): Promise<Objection | null> {
  const { vaultId, transferId: id, initiatorId, fromAddressId } = payload
  if (!transfer.vault_locked) return { reason: 'vault_is_draft', message: 'The vault is not locked' }
  if (!transfer.token_enabled) return { reason: 'disabled', message: 'The token is disabled' }
  const { owner, isFirstArchived, hold } = await findCounterpartyNow(trx, vaultId, id)
  if (hold !== null) return { reason: 'held', message: sentenceOf(hold), details: detailsOf(hold) }
  if (isFirstArchived || (owner !== null && owner.archivedAt !== null))
    return { reason: 'archived', message: 'The counterparty is archived' }
  const initiator = await findInitiator(trx, vaultId, initiatorId)
  if (initiator === null)
    return {
      reason: 'initiator_lost_permission',
      message: 'The initiator is disabled or no longer a member of the vault',
    }
  if (isWaived && !initiator.isAdmin) {
    return {
      reason: 'initiator_lost_permission',
      message: 'A vote was waived for an administrator, and the initiator no longer is one',
    }
  }
  const asInitiator = visibleScopeOf({ ...initiator, readsAll: initiator.isAdmin, vault: { id: vaultId } })
  const { canTransfer, folderIds } = await findPermissions(trx, asInitiator, fromAddressId)
  if (!canTransfer)
    return { reason: 'initiator_lost_permission', message: 'The initiator may no longer transfer from this address' }
  const { velocity = [], ...lasting } = facts
  const decision = await decide(trx, {
    vaultId,
    actionType: 'transfer',
    initiator,
    facts: {
      ...lasting,
      ...(isSumKept ? { velocity } : {}),
      ...recipientFacts(facts.destinationType === 'internal', owner),
      now,
      initiatorGroupIds: initiator.groupIds,
      addressGroupIds: folderIds,
      category: await findFirstCategoryKey(trx, { vault_id: vaultId, id }),
      operationId: id,
    },
  })
  if (decision.effect !== 'block') return null
  return {
    reason: 'blocked_by_policy_now',
    message: 'A policy blocks this transfer now',
    details: decision.blockReason ?? undefined,
  }
}
