import type { Static } from 'typebox'
import { type ByMember, byMember, type Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { type AppError, conflict, forbidden } from '../../../lib/errors.ts'
import { txHashKey } from '../../../lib/onchain-address.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import { audit } from '../../record/audit/record.ts'
import { findNativeCoin } from '../../registry/tokens/queries.ts'
import type { ReplacementQuote as WalletQuote } from '../../registry/wallet-service/answers.ts'
import { toBadGateway, WalletServiceError } from '../../registry/wallet-service/call.ts'
import type { Replacement, ReplacementAction } from '../../registry/wallet-service/client.ts'
import { assertNotHeld } from '../../rules/holds/active.ts'
import { stopUnlessAsRecorded } from '../../rules/votes/ballot.ts'
import { fallenSentence, findAlarm } from '../../vaults/authority/authority-mark.ts'
import { walletOfVault } from '../../vaults/wallets/wallet-settings.ts'
import { refusalOf, sentenceOf } from '../delivery/hand-over-replacement.ts'
import { applyStatus } from '../delivery/settle.ts'
import { toAssetAmount } from '../ledger/present.ts'
import { isSignedOrder } from '../orders/payload.ts'
import { findHoldOnTransfer } from '../orders/recheck.ts'
import { readFeeLimit } from '../transfers/compare-order.ts'
import { recordedTransfers, transferHalted } from '../transfers/move.ts'
import { type DeliveryState, type LockedTransfer, lockVisibleTransfer, type TransferRow } from '../transfers/queries.ts'
import type { ReplacementOrder, ReplacementPreview } from './schema.ts'

export const replacementVerbs: Record<ReplacementAction, string> = {
  'speed-up': 'transfer.speed_up_requested',
  'cancel-on-chain': 'transfer.cancel_on_chain_requested',
}

/**
 * Asks the wallet service to replace the transaction of a transfer under its nonce: by the same payment with a higher fee, or
 * by a transaction that moves nothing. No vote is needed: the payment was decided, it happens at most once, and the fee stays
 * within the decided limit. A higher fee is decided first, see raise-fee.ts. The intent is recorded before the call.
 *
 * @throws 403 for all but its initiator, the owner of its address and administrators; 404; 409 when it is impossible now; 502
 */
export async function replaceOnChain(
  deps: Deps,
  id: string,
  action: ReplacementAction,
  { member, now, body }: ByMember & { body: Static<typeof ReplacementOrder> },
): Promise<Refusal | null> {
  const begun = await inTransaction(deps.db, (trx) => begin(trx, deps, { id, action, member, now, body }))
  if ('refusal' in begun) return begun
  const vaultId = member.vault.id
  try {
    const wallet = await walletOfVault(deps, vaultId)
    const status = await wallet.replaceTransaction(id, action, begun)
    await applyStatus(deps, { vaultId, id }, status)
  } catch (error) {
    throw toReplacementError(error)
  }
  return null
}

type Request = ByMember & { id: string; action: ReplacementAction; body: Static<typeof ReplacementOrder> }

/** Checks and records a replacement. Returns its request, always with the limit: the wallet service may know only an earlier limit. */
async function begin(
  trx: Trx,
  { log }: Deps,
  { id, action, member, now, body }: Request,
): Promise<Replacement | Refusal> {
  const transfer = await lockVisibleTransfer(trx, member, id)
  assertMayReplace(transfer, member)
  assertReplaceable(transfer, body)
  if (action === 'speed-up') {
    assertNotHeld(await findHoldOnTransfer(trx, transfer.vault_id, id))
    if ((await findAlarm(trx, transfer.vault_id)) !== null) throw conflict('not_replaceable', fallenSentence)
  }
  const compared = await stopUnlessAsRecorded(trx, recordedTransfers(log), transfer, now)
  if ('refusal' in compared) return compared
  const permitted = compared.recorded.feeLimit.maxFee
  const wanted = body.maxFee === undefined ? permitted : BigInt(body.maxFee)
  if (permitted !== null && wanted !== null && wanted > permitted)
    throw conflict('above_max_fee', 'The transfer may not pay as much')
  const maxFee = wanted?.toString()
  const details = { txHash: transfer.wallet_tx_hash, maxFee: maxFee ?? null }
  await audit(trx, byMember({ member, now }), replacementVerbs[action], { type: 'transfer', id }, details)
  return { txHash: body.txHash, ...(maxFee === undefined ? {} : { maxFee }) }
}

/** @throws 409 unless the transfer was handed over, has neither ended nor halted, and has this transaction */
export function assertReplaceable(
  { status, phase, halt_reason, wallet_tx_hash }: DeliveryState,
  { txHash }: Pick<Replacement, 'txHash'>,
): void {
  if (phase === 'halted') throw transferHalted(halt_reason)
  if (status !== 'pending') throw conflict('wrong_state', `The transfer is ${status}`)
  if (phase === 'queued') throw conflict('wrong_state', 'The transfer was not handed to the wallet service yet')
  if ((txHash === null ? null : txHashKey(txHash)) !== wallet_tx_hash)
    throw conflict('changed_concurrently', 'The transfer has another transaction by now')
}

/** @throws 403 for all but the initiator, the owner of the source address and administrators */
export function assertMayReplace(
  { initiator_id, owner_id }: Pick<LockedTransfer, 'initiator_id' | 'owner_id'>,
  member: Member,
): void {
  if (initiator_id === member.userId || owner_id === member.userId || member.isAdmin) return
  const permitted = 'the initiator, the owner of the address or an administrator'
  throw forbidden('not_permitted', `Only ${permitted} may replace the transaction of a transfer`)
}

/** Returns the present costs of both replacements. @throws as `replaceOnChain` */
export async function previewReplacement(
  deps: Deps,
  transfer: TransferRow,
  member: Member,
): Promise<Static<typeof ReplacementPreview>> {
  assertMayReplace(transfer, member)
  const { db } = deps
  if (transfer.status !== 'pending') throw conflict('wrong_state', `The transfer is ${transfer.status}`)
  try {
    const wallet = await walletOfVault(deps, transfer.vault_id)
    const { speedUp, cancelOnChain } = await wallet.quoteReplacement(transfer.id)
    const permitted = await findPermittedFee(db, transfer)
    const coin = await findNativeCoin(db, transfer.network_id)
    const costOf = (cost: WalletQuote['speedUp']) => toCost(cost, { permitted, coin })
    const faster = costOf(speedUp)
    const isSigned = isSignedOrder(transfer.payload) && (faster.needsApproval || isAboveMaxFee(speedUp))
    return {
      txHash: transfer.tx_hash,
      speedUp: isSigned ? { maxFee: null, refusal: signedFeeRefusal, needsApproval: false } : faster,
      cancelOnChain: costOf(cancelOnChain),
    }
  } catch (error) {
    throw toReplacementError(error)
  }
}

/** Returns the highest fee that may be paid without a new decision, in the smallest unit of the coin; null without a limit. */
export async function findPermittedFee(
  db: Db,
  { vault_id, id, payload }: Pick<TransferRow, 'vault_id' | 'id' | 'payload'>,
): Promise<bigint | null> {
  return readFeeLimit(payload, await listRecordsOf(db, vault_id, 'transfer', [id])).maxFee
}

/** The advice where the limit of the fee was signed with the order. */
export const signedFeeRefusal =
  'People signed a lower limit of the fee; cancel the transfer on chain, and order it again with a higher limit'

const codeOf = (cost: WalletQuote['speedUp']): string | null =>
  'refusal' in cost ? (/^[A-Z_]+/.exec(cost.refusal)?.[0] ?? null) : null
const isAboveMaxFee = (cost: WalletQuote['speedUp']): boolean => codeOf(cost) === 'ABOVE_MAX_FEE'

type Coin = { code: string; decimals: number }

/** A cost above the limit is not refused, because a higher limit can be requested. */
function toCost(
  cost: WalletQuote['speedUp'],
  { permitted, coin }: { permitted: bigint | null; coin: Coin | null },
): Static<typeof ReplacementPreview>['speedUp'] {
  const code = codeOf(cost)
  const isImpossible =
    'refusal' in cost && (code !== 'ABOVE_MAX_FEE' || cost.maxFee === undefined || permitted === null)
  if (isImpossible) return { maxFee: null, refusal: sentenceOf(code), needsApproval: false }
  if (coin === null || cost.maxFee === undefined) return { maxFee: null, refusal: null, needsApproval: false }
  const needsApproval = permitted !== null && BigInt(cost.maxFee) > permitted
  return { maxFee: toAssetAmount(cost.maxFee, coin), refusal: null, needsApproval }
}

function toReplacementError(error: unknown): unknown {
  if (!(error instanceof WalletServiceError)) return error
  return refusalOf(error) ?? (toBadGateway(error) satisfies AppError)
}
