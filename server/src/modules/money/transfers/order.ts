import { visibleScopeOf } from '../../../access/address-scope.ts'
import { byMember, type Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { conflict, forbidden } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { assignNamedCategory, type NamedCategory } from '../../operations/assignments/first-category.ts'
import { audit, toAuditRow } from '../../record/audit/record.ts'
import { notifyApprovers } from '../../record/notifications/write.ts'
import { decideBy, lockCandidates } from '../../rules/policies/decide.ts'
import { openApproval } from '../../rules/votes/open.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { reservePosting } from '../ledger/postings.ts'
import { loadOrder } from './load-order.ts'
import { type AcceptedOrder, toNewTransfer, toPayload } from './new-transfer.ts'
import type { OrderBody } from './payload.ts'
import { findPlainTransfer, findTransfer, lockAvailable, type TransferRow } from './queries.ts'

/**
 * Decides on an order and, unless it is refused, reserves its funds: everything or nothing, in `trx`. A refusal by the
 * policies writes an audit record.
 *
 * @throws as `loadOrder`; 409 for insufficient funds, a disabled token or a quorum that cannot be reached
 */
export async function orderTransfer(
  trx: Trx,
  body: OrderBody,
  { member, now, approvalTtlHours }: { member: Member; now: Date; approvalTtlHours: number },
): Promise<{ transfer: TransferRow } | Refusal> {
  const by = byMember({ member, now })
  const scope = visibleScopeOf(member)
  const { order, category, question } = await loadOrder(trx, body, { scope, initiator: member, spends: true, now })
  const { source, amount } = order
  if (source.token_enabled !== true) throw conflict(`The token ${source.token_code} is disabled`)

  const candidates = await lockCandidates(trx, question)
  const available = await lockAvailable(trx, by.vaultId, source.address_id, source.token_id)
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
    return { refusal: forbidden(message) }
  }
  if (available < amount)
    throw conflict('insufficient funds', `The address has less ${source.token_code} available than the transfer needs`)

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
