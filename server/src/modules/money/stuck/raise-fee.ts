import type { Static } from 'typebox'
import { byInitiator, type Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { badRequest, conflict, notFound, refusalFor } from '../../../lib/errors.ts'
import { rawAmountMax } from '../../../lib/limits.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import { audit } from '../../record/audit/record.ts'
import { findNativeCoin } from '../../registry/tokens/queries.ts'
import type { ReplacementAction } from '../../registry/wallet-service/client.ts'
import type { Initiator } from '../../rules/decisions/decide.ts'
import type { Decision } from '../../rules/decisions/decision.ts'
import { type Executor, StaleError, type Step } from '../../rules/votes/executor.ts'
import { toAssetAmount } from '../ledger/present.ts'
import { lostPermission, objectionsTo } from '../orders/objections.ts'
import { isSignedOrder } from '../orders/payload.ts'
import { decideAgain, factsNow, findOrderNow } from '../orders/recheck.ts'
import { compareWithRecord, type RaiseRecord, type RecordedOrder } from '../transfers/compare-order.ts'
import { movePhase } from '../transfers/move.ts'
import {
  type DeliveryState,
  findDeliveryState,
  findTransfer,
  type LockedTransfer,
  listStoredOrders,
  lockTransfer,
} from '../transfers/queries.ts'
import { assertMayReplace, assertReplaceable, findPermittedFee, replacementVerbs, signedFeeRefusal } from './replace.ts'
import type { ReplacementOrder } from './schema.ts'

type FeeAmount = ReturnType<typeof toAssetAmount>

/** A replacement that may cost more than the policies decided on. The server makes it, and voters see it and vote on its hash. */
type RaisePayload = {
  replacement: ReplacementAction
  txHash: string | null
  maxFee: FeeAmount
  /** The fee that may be paid without this raise. */
  permitted: FeeAmount
  /** The payment, from the audit records: some voters cannot see the transfer. */
  order: { fromAddress: string; toAddress: string; network: string; amountDecimal: string; asset: string }
  /** The text that lists show in place of the id of the transfer. */
  label: string
}

type Wish = { member: Member; id: string; replacement: ReplacementAction; body: Static<typeof ReplacementOrder> }

/**
 * Returns the replacement that the policies must decide on, because it may cost more than they decided on before; null when
 * no decision is needed.
 * @throws 403 for all but the initiator, the owner of the source address and administrators; 404, 409
 */
export async function findRaise(
  db: Db,
  { member, id, replacement, body }: Wish,
): Promise<Omit<RaisePayload, 'order' | 'label'> | null> {
  const transfer = orNotFound(await findTransfer(db, member, id), 'Transfer')
  assertMayReplace(transfer, member)
  const { txHash, maxFee } = body
  if (maxFee === undefined) return null
  const wanted = BigInt(maxFee)
  if (wanted > rawAmountMax) throw badRequest('maxFee', 'must be at most 2^256-1')
  const permitted = await findPermittedFee(db, transfer)
  if (permitted === null || wanted <= permitted) return null
  if (member.vault.protection === 'votes' || isSignedOrder(transfer.payload)) assertMayRaise(replacement)
  if (txHash === null) throw conflict('not_replaceable', 'There is no transaction yet that could be replaced')
  const coin = orNotFound(await findNativeCoin(db, transfer.network_id), 'Coin of the network')
  return {
    replacement,
    txHash,
    maxFee: toAssetAmount(wanted, coin),
    permitted: toAssetAmount(permitted, coin),
  }
}

/** Replaces the transaction of a transfer at a fee above the limit of its order, after the policies decided on the new limit. */
export const raiseFeeExecutor: Executor = {
  async prepare(db, { vaultId }, step) {
    const { targetId } = step
    const delivery = await findDeliveryState(db, vaultId, targetId ?? '')
    if (delivery === null) throw notFound('Transfer')
    assertReplaceable(delivery, payloadOf(step))
    const recorded = await readRecorded(db, vaultId, targetId ?? '')
    assertRaisable(recorded, step)
    const baseVersion = versionOf(delivery, recorded)
    const { maxFee } = payloadOf(step)
    const order = orderOf(recorded)
    const label = `${order.amountDecimal} ${order.asset}, ${maxFee.amountDecimal} ${maxFee.asset}`
    const payload = { ...step.payload, order, label }
    const facts = { maxFee: maxFee.amountDecimal }
    return { step: { ...step, payload }, targetType: 'transfer', targetId, baseVersion, facts }
  },

  async decide(trx, { vaultId, now }, { step }, requester) {
    const transfer = await lockTransfer(trx, vaultId, step.targetId ?? '')
    if (transfer === null) throw notFound('Transfer')
    return decideOnRaise(trx, transfer, step, { requester, now })
  },

  async apply(trx, context, step, baseVersion) {
    const { vaultId, now } = context
    const id = step.targetId ?? ''
    const transfer = await lockTransfer(trx, vaultId, id)
    if (transfer === null) throw notFound('Transfer')
    const recorded = await readRecorded(trx, vaultId, id)
    if (versionOf(transfer, recorded) !== baseVersion) throw new StaleError()
    assertReplaceable(transfer, payloadOf(step))
    assertRaisable(recorded, step)
    const { replacement, txHash, maxFee, permitted } = payloadOf(step)
    const target = { type: 'transfer', id }
    const raise: RaiseRecord = { from: permitted.amount, to: maxFee.amount, replacement, txHash }
    await audit(trx, byInitiator(context), 'transfer.max_fee_raised', target, raise)
    await audit(trx, byInitiator(context), replacementVerbs[replacement], target, { txHash, maxFee: maxFee.amount })
    // The delivery calls the wallet service, so that no transaction waits for it.
    await movePhase(trx, transfer, transfer.phase, { replacement_due: true, next_attempt_at: now })
    return { resultId: id }
  },
}

/**
 * Returns the decision on the order with the new limit in place of the old. The decision is made for the initiator of the
 * transfer, also when another member requests the replacement; neither of them votes. A payment that is no longer permitted is
 * not sped up, but may be cancelled.
 * @throws 409
 */
async function decideOnRaise(
  trx: Trx,
  transfer: LockedTransfer,
  step: Step,
  { requester, now }: { requester: Initiator; now: Date },
): Promise<Decision> {
  const { vault_id: vaultId, id, initiator_id: initiatorId } = transfer
  const { replacement, maxFee } = payloadOf(step)
  const found = await findOrderNow(trx, { vaultId, transferId: id, initiatorId })
  const objections = replacement === 'speed-up' ? objectionsTo('recheck', factsNow(transfer, found)) : []
  for (const objection of objections) throw refusalFor(objection)
  const recorded = await readRecorded(trx, vaultId, id)
  const again = await decideAgain(trx, recorded, {
    ...found,
    isSumKept: true,
    now,
    changed: { maxFee: maxFee.amountDecimal },
    mayWaive: requester.isAdmin,
  })
  if (again.decision === null) throw refusalFor(lostPermission(again.lost))
  const requirements = again.decision.requirements.map((requirement) => ({ ...requirement, decidedForId: initiatorId }))
  return { ...again.decision, requirements }
}

/** @throws 409 when the tables differ from the audit records; the delivery will then halt the transfer */
async function readRecorded(db: Db | Trx, vaultId: string, id: string): Promise<RecordedOrder> {
  const [stored] = await listStoredOrders(db, vaultId, [id])
  const compared = compareWithRecord(stored!, await listRecordsOf(db, vaultId, 'transfer', [id]))
  if ('recorded' in compared) return compared.recorded
  throw conflict('differs_from_record', 'The transfer differs from its audit records', compared.difference)
}

function orderOf({ payload: { fromAddress, toAddress, network }, facts }: RecordedOrder): RaisePayload['order'] {
  return { fromAddress, toAddress, network, amountDecimal: facts.amount ?? '', asset: facts.token?.code ?? '' }
}

/**
 * Throws for a signed payment, because the wallet service pays no higher fee than people signed. A cancellation moves no funds,
 * so it needs no signature and is always possible.
 * @throws 409
 */
function assertMayRaise(replacement: ReplacementAction): void {
  if (replacement === 'speed-up') throw conflict('above_signed_fee', signedFeeRefusal)
}

/** @throws 409 when people signed a lower limit, or when the limit was raised since the request, which then is outdated */
function assertRaisable({ payload, feeLimit: { maxFee: permitted } }: RecordedOrder, step: Step): void {
  const { replacement, maxFee, permitted: known } = payloadOf(step)
  if (isSignedOrder(payload)) assertMayRaise(replacement)
  if (permitted === BigInt(known.amount) && BigInt(maxFee.amount) > permitted) return
  throw conflict('changed_concurrently', 'The limit of the fee was changed by someone else just now')
}

/** Returns a digest of the state that the votes are bound to: a new transaction or a new limit changes it. */
function versionOf({ status, wallet_tx_hash }: DeliveryState, { feeLimit }: RecordedOrder): string {
  const maxFee = feeLimit.maxFee?.toString() ?? null
  return sha256(canonicalJson({ status, wallet_tx_hash, maxFee })).toString('hex').slice(0, 16)
}

/** Returns the payload. The route made it, and its hash ensures that it is unchanged. */
function payloadOf(step: Step): RaisePayload {
  return step.payload as RaisePayload
}
