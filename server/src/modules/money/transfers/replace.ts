import type { Static } from 'typebox'
import { type ByMember, byMember, type Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { type AppError, conflict, forbidden } from '../../../lib/errors.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { txHashKey } from '../../../lib/onchain-address.ts'
import { audit } from '../../record/audit/record.ts'
import type { ReplacementQuote as WalletQuote } from '../../registry/wallet-service/answers.ts'
import { type ReplacementAction, toBadGateway, WalletServiceError } from '../../registry/wallet-service/client.ts'
import { stopUnlessAsRecorded } from '../../rules/votes/vote.ts'
import { walletOfVault } from '../../vaults/vaults/wallet-settings.ts'
import { recordedTransfers } from './move.ts'
import { findNativeCoin, type LockedTransfer, type TransferRow } from './queries.ts'
import type { ReplacementOrder, ReplacementPreview } from './replacement-schema.ts'
import { applyStatus } from './settle.ts'
import { lockVisibleTransfer } from './vote.ts'

const verbs: Record<ReplacementAction, string> = {
  'speed-up': 'transfer.speed_up_requested',
  'cancel-on-chain': 'transfer.cancel_on_chain_requested',
}

/**
 * Asks the wallet service to replace the transaction of a transfer under its nonce, by the same payment with a higher fee or
 * by nothing. There is no vote: the payment was decided, it happens at most once, and the fee keeps to the limit that was
 * voted on, which the wallet service has from the order. The intent is recorded before the call.
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
  if (begun !== null) return begun
  const vaultId = member.vault.id
  try {
    const wallet = await walletOfVault(deps, vaultId)
    const status = await wallet.replaceTransaction(id, action, body)
    await applyStatus(deps, { vaultId, id }, status)
  } catch (error) {
    throw toReplacementError(error)
  }
  return null
}

type Request = ByMember & { id: string; action: ReplacementAction; body: Static<typeof ReplacementOrder> }

async function begin(trx: Trx, { log }: Deps, { id, action, member, now, body }: Request): Promise<Refusal | null> {
  const transfer = await lockVisibleTransfer(trx, member, id)
  assertMayReplace(transfer, member)
  if (transfer.phase === 'halted')
    throw conflict('transfer_halted', 'The transfer is halted', transfer.halt_reason ?? undefined)
  if (transfer.status !== 'pending') throw conflict('wrong_state', `The transfer is ${transfer.status}`)
  if (transfer.phase === 'queued')
    throw conflict('wrong_state', 'The transfer was not handed to the wallet service yet')
  if ((body.txHash === null ? null : txHashKey(body.txHash)) !== transfer.wallet_tx_hash)
    throw conflict('changed_concurrently', 'The transfer has another transaction by now')
  const compared = await stopUnlessAsRecorded(trx, recordedTransfers(log), transfer, now)
  if ('refusal' in compared) return compared
  const details = { txHash: transfer.wallet_tx_hash, maxFee: body.maxFee ?? null }
  await audit(trx, byMember({ member, now }), verbs[action], { type: 'transfer', id }, details)
  return null
}

/** @throws 403 for all but the initiator, the owner of the source address and administrators */
function assertMayReplace(
  { initiator_id, owner_id }: Pick<LockedTransfer, 'initiator_id' | 'owner_id'>,
  member: Member,
): void {
  if (initiator_id === member.userId || owner_id === member.userId || member.isAdmin) return
  const who = 'the initiator, the owner of the address or an administrator'
  throw forbidden('not_permitted', `Only ${who} may replace the transaction of a transfer`)
}

/** What both replacements would cost now. @throws as `replaceOnChain` */
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
    const coin = await findCoinOf(db, transfer)
    return { txHash: transfer.tx_hash, speedUp: toCost(speedUp, coin), cancelOnChain: toCost(cancelOnChain, coin) }
  } catch (error) {
    throw toReplacementError(error)
  }
}

type Coin = { code: string; decimals: number } | null

async function findCoinOf(db: Db, { network_id }: TransferRow): Promise<Coin> {
  return findNativeCoin(db, network_id)
}

function toCost(cost: WalletQuote['speedUp'], coin: Coin): Static<typeof ReplacementPreview>['speedUp'] {
  if ('refusal' in cost) return { maxFee: null, refusal: sentenceOf(/^[A-Z_]+/.exec(cost.refusal)?.[0] ?? null) }
  if (coin === null) return { maxFee: null, refusal: null }
  const { maxFee: amount } = cost
  return {
    maxFee: { amount, amountDecimal: formatDecimal(amount, coin.decimals), asset: coin.code },
    refusal: null,
  }
}

/** The codes of the protocol in our words: the text of a wallet service stays in the log. */
const sentences: Record<string, string> = {
  NOT_SIGNED: 'There is no transaction yet that could be replaced',
  ALREADY_MINED: 'A transaction with this nonce is in a block already',
  ENDED: 'The wallet service has ended the transfer already',
  EARLIER_FIRST: 'An earlier transfer of the address must be mined first',
  ABOVE_MAX_FEE: 'A replacement must pay more than the order permits',
  FEE_HIGH_ENOUGH: 'The transaction pays far more than what is usual now',
  INSUFFICIENT_FUNDS: 'The address cannot pay for a replacement',
  TOO_MANY: 'The transaction was replaced too often',
}

const sentenceOf = (code: string | null): string =>
  (code === null ? undefined : sentences[code]) ?? 'The wallet service cannot replace the transaction now'

/** Statuses of a wallet service that has no such operation. */
const unsupported = new Set([404, 405, 501])

function toReplacementError(error: unknown): unknown {
  if (!(error instanceof WalletServiceError)) return error
  const { kind, status, code } = error
  if (kind === 'conflict')
    return conflict(code === 'ABOVE_MAX_FEE' ? 'above_max_fee' : 'not_replaceable', sentenceOf(code))
  if (status !== null && unsupported.has(status))
    return conflict('not_replaceable', 'The wallet service cannot replace transactions')
  return toBadGateway(error) satisfies AppError
}
