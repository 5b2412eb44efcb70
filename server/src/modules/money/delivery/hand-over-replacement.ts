import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { type AppError, conflict } from '../../../lib/errors.ts'
import { txHashKey } from '../../../lib/onchain-address.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import { audit } from '../../record/audit/record.ts'
import { WalletServiceError } from '../../registry/wallet-service/call.ts'
import type { WalletClient } from '../../registry/wallet-service/client.ts'
import { stopUnlessAsRecorded } from '../../rules/votes/ballot.ts'
import { findAlarm } from '../../vaults/authority/authority-mark.ts'
import { findHoldOnTransfer } from '../orders/recheck.ts'
import { type RaiseRecord, readFeeLimit } from '../transfers/compare-order.ts'
import { recordedTransfers } from '../transfers/move.ts'
import { lockTransfer } from '../transfers/queries.ts'
import { type Claim, lockClaimed } from './claim.ts'
import type { WalletStatus } from './evaluate-status.ts'
import { applyStatus } from './settle.ts'

/**
 * The end of an attempt to hand over a replacement: none is due now, the answer was applied, the wallet service refused it, it was
 * refused and a later one is due at once, or its outcome is unknown and it is requested again.
 */
export type Replaced = 'nothing due' | 'answered' | 'refused' | 'raised again' | 'unknown'

/**
 * Hands over a replacement that was decided on (raise-fee.ts). The wallet service replaces only the transaction that it names,
 * so that a repetition after a crash starts nothing.
 */
export async function handOverReplacement(deps: Deps, wallet: WalletClient, claim: Claim): Promise<Replaced> {
  const raise = await inTransaction(deps.db, (trx) => findDue(trx, deps, claim))
  if (raise === null) return 'nothing due'
  const { replacement, txHash, to: maxFee } = raise
  const answer = await wallet.replaceTransaction(claim.id, replacement, { txHash, maxFee }).catch((error: unknown) => {
    if (!(error instanceof WalletServiceError)) throw error
    const refusal = refusalOf(error)
    if (refusal !== null) return { refusal: refusal.message }
    deps.log.warn({ err: error, transferId: claim.id }, 'replacement not handed over yet')
    return null
  })
  if (answer === null) return 'unknown'
  const isLast = await inTransaction(deps.db, (trx) => end(trx, deps, { claim, raise, answer }))
  if ('refusal' in answer) return isLast ? 'refused' : 'raised again'
  await applyStatus(deps, claim, answer)
  return 'answered'
}

/** Reads the replacement from the audit records, because the row may be forged. Returns null when no replacement is due now. */
async function findDue(trx: Trx, { log, clock }: Deps, claim: Claim): Promise<RaiseRecord | null> {
  const transfer = await lockClaimed(trx, claim)
  if (transfer === null) return null
  const compared = await stopUnlessAsRecorded(trx, recordedTransfers(log), transfer, clock())
  if ('refusal' in compared) return null
  const { raise } = compared.recorded.feeLimit
  if (raise === null || raise.txHash === null || txHashKey(raise.txHash) !== transfer.wallet_tx_hash) {
    await forget(trx, claim)
    return null
  }
  // The replacement waits until the hold is released, as a hand-over does.
  return raise.replacement === 'speed-up' && (await isStopped(trx, claim)) ? null : raise
}

const isStopped = async (trx: Trx, { vaultId, id }: Claim): Promise<boolean> =>
  (await findHoldOnTransfer(trx, vaultId, id)) !== null || (await findAlarm(trx, vaultId)) !== null

type Ended = { claim: Claim; raise: RaiseRecord; answer: WalletStatus | { refusal: string } }

/** Returns false if another raise was decided on meanwhile, which then stays due. */
async function end(trx: Trx, { clock }: Deps, { claim, raise, answer }: Ended): Promise<boolean> {
  const { vaultId, id } = claim
  const isLast = await isLastRaise(trx, claim, raise)
  if (isLast) await forget(trx, claim)
  if (!('refusal' in answer)) return isLast
  const { replacement, txHash, to: maxFee } = raise
  const details = { replacement, txHash, maxFee, reason: answer.refusal }
  const by = { vaultId, actorId: null, now: clock() }
  await audit(trx, by, 'transfer.replacement_refused', { type: 'transfer', id }, details)
  return isLast
}

async function isLastRaise(trx: Trx, { vaultId, id }: Claim, { from, to }: RaiseRecord): Promise<boolean> {
  // A raise holds this lock until its record is committed.
  await lockTransfer(trx, vaultId, id)
  const { raise } = readFeeLimit({ maxFee: from }, await listRecordsOf(trx, vaultId, 'transfer', [id]))
  return raise?.to === to
}

async function forget(trx: Trx, { vaultId, id }: Claim): Promise<void> {
  await sql`update transfers set replacement_due = false where vault_id = ${vaultId} and id = ${id}`.execute(trx)
}

/** The sentences for the codes of the protocol. The text of a wallet service stays in the log. */
const sentences: Record<string, string> = {
  NOT_SIGNED: 'There is no transaction yet that could be replaced',
  ALREADY_MINED: 'The transaction, or one that takes its place, is already in a block',
  ENDED: 'The wallet service has already ended the transfer',
  EARLIER_FIRST: 'An earlier transfer of the address must be mined first',
  LATER_FIRST: 'A later transfer of the address spends its change, and would fail with it',
  NO_CHANGE: 'Nothing comes back to the address that could pay a higher fee',
  NOT_REPLACEABLE: 'This network replaces no transactions; a higher fee is possible, a cancellation is not',
  ABOVE_MAX_FEE: 'A replacement must pay more than the order permits',
  FEE_HIGH_ENOUGH: 'The transaction pays far more than what is usual now',
  INSUFFICIENT_FUNDS: 'The address cannot pay for a replacement',
  AUTHORIZATION_REFUSED: 'The signatures no longer permit a replacement',
  TOO_MANY: 'The transaction was replaced too often',
}

export const sentenceOf = (code: string | null): string =>
  (code === null ? undefined : sentences[code]) ?? 'The wallet service cannot replace the transaction now'

/** The statuses of a wallet service that has no such operation. */
const unsupported = new Set([404, 405, 501])

/** Returns the refusal of the wallet service in a sentence of ours; null when the wallet service may have replaced the transaction. */
export function refusalOf({ kind, status, code }: WalletServiceError): AppError | null {
  if (kind === 'conflict')
    return conflict(code === 'ABOVE_MAX_FEE' ? 'above_max_fee' : 'not_replaceable', sentenceOf(code))
  if (status !== null && unsupported.has(status))
    return conflict('not_replaceable', 'The wallet service cannot replace transactions')
  return null
}
