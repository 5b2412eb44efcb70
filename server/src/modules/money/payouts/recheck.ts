import type { Trx } from '../../../db/client.ts'
import { listFirstCategoryKeys } from '../../operations/assignments/queries.ts'
import { detailsOf, reasonOf, sentenceOf } from '../../rules/holds/active.ts'
import { factsOfInitiator } from '../../rules/policies/decide.ts'
import { decideBatch } from '../../rules/policies/decide-batch.ts'
import { listCandidates } from '../../rules/policies/queries.ts'
import type { RecordedOrder } from '../transfers/compare-record.ts'
import { findSources, recipientFacts } from '../transfers/load-order.ts'
import type { LockedTransfer } from '../transfers/queries.ts'
import { findEntitled, findHoldOnTransfersOf, lost, type Objection } from '../transfers/recheck.ts'
import { hasArchivedRecipient, type LockedPayout } from './queries.ts'

/**
 * The objection to a payout now, or null: checked by the last vote, for all rows at once and with the same questions as
 * `findObjection` has for one transfer. The hand-over asks them again for each.
 *
 * @param orders as the audit records hold them, which supply the facts that cannot change
 */
export async function findPayoutObjection(
  trx: Trx,
  payout: LockedPayout,
  { transfers, orders, isWaived }: { transfers: LockedTransfer[]; orders: RecordedOrder[]; isWaived: boolean },
  now: Date,
): Promise<Objection | null> {
  const { vault_id: vaultId, id, initiator_id } = payout
  const hold = await findHoldOnTransfersOf(trx, vaultId, id)
  if (hold !== null) return { reason: reasonOf(hold), message: sentenceOf(hold), details: detailsOf(hold) }
  if (transfers.some(({ vault_locked }) => !vault_locked))
    return { reason: 'vault_is_draft', message: 'The vault is not locked' }
  if (transfers.some(({ token_enabled }) => !token_enabled))
    return { reason: 'disabled', message: 'The token of a row is disabled' }
  const found = await findEntitled(trx, vaultId, initiator_id, isWaived)
  if ('objection' in found) return found.objection
  const { initiator, scope } = found
  const bodies = orders.map(({ payload: { fromAddressId, toAddress, tokenId, amount } }) => {
    return { fromAddressId, toAddress, tokenId, amount }
  })
  const sources = await findSources(trx, scope, bodies, { now })
  if (sources.some((source) => source === null || !source.can_transfer))
    return lost('The initiator may no longer transfer from an address of the payout').objection
  const isArchived = sources.some((source) => source?.counterparty != null && source.counterparty.archivedAt !== null)
  if (isArchived || (await hasArchivedRecipient(trx, vaultId, id)))
    return { reason: 'archived', message: 'The counterparty of a row is archived' }
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
  const candidates = await listCandidates(trx, vaultId, 'transfer', initiator.groupIds)
  const { effect, blockReason, decisive } = await decideBatch(trx, candidates, question, { areStored: true })
  if (effect !== 'block') return null
  return {
    reason: 'blocked_by_policy_now',
    message: 'A policy blocks this payout now',
    details: `Row ${decisive.order + 1}: ${blockReason}`,
  }
}
