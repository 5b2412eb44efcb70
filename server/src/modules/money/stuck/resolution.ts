import { isSameAddress, txHashKey } from '../../../lib/onchain-address.ts'
import type { OperationStatus, Phase } from '../../../lib/operations.ts'
import type { TransactionState, TransferStatus } from '../../registry/wallet-service/answers.ts'
import { evaluateStatus, type Paying, type ReportedFee, readTime } from '../delivery/evaluate-status.ts'
import type { Payload } from '../orders/payload.ts'

export const resolutionOutcomes = ['settle', 'release', 'resume'] as const
export type ResolutionOutcome = (typeof resolutionOutcomes)[number]

/** The proofs that a resolution is right; stored with its request, for voters and for the console to put into words. */
const resolutionProofs = [
  'paid',
  'failed',
  'nonce_used',
  'never_handed_over',
  'known',
  'unknown_to_wallet',
  'waits_for_votes',
  'ended',
] as const
export type ResolutionProof = (typeof resolutionProofs)[number]

/**
 * A transfer to be resolved. The order and the status are those of its audit records, because its rows may be forged (T56). The hashes,
 * the index and `isOfPayout` are those of its rows.
 */
export type StuckTransfer = {
  order: Payload
  /** The status according to the audit records. */
  status: OperationStatus
  /** The hash that the wallet service reported last. */
  knownTxHash: string | null
  /** The part of this transaction that pays the transfer; null if the wallet service named no part. */
  knownTxIndex: number | null
  /** The hashes that the wallet service reported before `knownTxHash`. A replaced transaction may be mined, too. */
  earlierTxHashes: string[]
  /** True if the transfer waits for votes as a row of a payout. */
  isOfPayout: boolean
  /** The difference between the rows and the audit records that remains after a restoration of the rows, or null. */
  lasting: string | null
}

/** The answers of the wallet service. An answer is null when the wallet service does not know it or does not tell. */
export type WalletAnswers = {
  transfer: TransferStatus | null
  /** The transaction that the request names, otherwise the known transaction. */
  transaction: TransactionState | null
  /** The transaction that took the place of the transfer according to the wallet service. */
  replacement: TransactionState | null
  /** The transactions that the chain knows, that the transfer builds on, and that the replacement made impossible. */
  lost?: TransactionState[]
  /** The parts of the replacement that pay other transfers of the vault. */
  paidToOthers?: number[]
  /** The earlier transactions that the chain knows. */
  earlier: TransactionState[]
}

/** The effect of a proven resolution. */
export type ResolutionStep =
  /** `indexes`: the parts of the transaction that pay the order, where a transaction may pay several. */
  | ({ kind: 'settle'; txHash: string; indexes: number[]; blockTime: Date | null } & ReportedFee)
  | ({ kind: 'fail'; reason: string } & Paying & ReportedFee)
  | { kind: 'cancel' }
  | { kind: 'continue'; phase: Extract<Phase, 'waiting' | 'submitting' | 'submitted' | 'broadcast'> }
  /** Restores the rows of a transfer that has ended from the audit records. */
  | { kind: 'restore' }

export type Verdict =
  | { proof: ResolutionProof; finding: string; step: ResolutionStep }
  /** The finding in place of a proof. */
  | { refusal: string }

/** Decides whether the answers of the wallet service prove what a resolution needs (contract 10.8). Pure. */
export function judge(outcome: ResolutionOutcome, stuck: StuckTransfer, answers: WalletAnswers): Verdict {
  const { status } = stuck
  if (status === 'awaiting_approval') return judgeWaiting(outcome, stuck, answers)
  if (status !== 'pending') {
    if (outcome !== 'resume') return { refusal: `According to its audit records the transfer is already ${status}` }
    return ended(stuck)
  }
  if (outcome === 'settle') return judgeSettlement(stuck, answers)
  return outcome === 'release' ? judgeRelease(stuck, answers) : judgeResumption(stuck, answers)
}

/** Judges a waiting transfer. Its records show that it never got its votes, so it was never handed over. */
function judgeWaiting(outcome: ResolutionOutcome, stuck: StuckTransfer, { transfer }: WalletAnswers): Verdict {
  if (outcome === 'settle') return { refusal: 'According to its audit records the transfer waits for votes' }
  if (transfer !== null) {
    return { refusal: `The wallet service has the transfer as ${transfer.status}, although it waits for votes` }
  }
  if (outcome === 'resume') {
    if (stuck.lasting !== null) return stillDiffers(stuck.lasting)
    const finding = 'The transfer is as it was recorded, and waits for votes'
    return { proof: 'waits_for_votes', finding, step: { kind: 'continue', phase: 'waiting' } }
  }
  if (stuck.isOfPayout) {
    return { refusal: 'The transfer waits as part of a payout; resume it, and reject or cancel the payout' }
  }
  const finding = 'It was never approved or handed over, and the wallet service does not know it'
  return { proof: 'never_handed_over', finding, step: { kind: 'cancel' } }
}

const knownOf = ({ knownTxHash: txHash, knownTxIndex: txIndex }: StuckTransfer): Paying => ({ txHash, txIndex })

function ended({ status, lasting }: StuckTransfer): Verdict {
  if (lasting !== null) return stillDiffers(lasting)
  return { proof: 'ended', finding: `According to its audit records it is ${status}`, step: { kind: 'restore' } }
}

function judgeSettlement({ order }: StuckTransfer, { transfer, transaction }: WalletAnswers): Verdict {
  if (transaction === null) return { refusal: 'The wallet service does not know the transaction, or does not tell' }
  const { hash, status, from, fee = null, blockTime } = transaction
  if (status !== 'mined') return { refusal: `The wallet service reports the transaction as ${status}, not as mined` }
  const paying = payingOf(order, transaction)
  if ('mismatch' in paying) return { refusal: `The transaction was mined, and ${paying.mismatch}` }
  return {
    proof: 'paid',
    finding: `The transaction was mined, and pays what was recorded. ${aboutTransfer(transfer)}`,
    step: {
      kind: 'settle',
      txHash: txHashKey(hash),
      indexes: from === null ? paying.indexes : [],
      fee: fee === null ? null : BigInt(fee),
      feePaidBy: null,
      blockTime: readTime(blockTime),
    },
  }
}

function aboutTransfer(transfer: TransferStatus | null): string {
  if (transfer === null) return 'The wallet service does not know the transfer'
  const { status, txHash } = transfer
  return `The wallet service has the transfer as ${status}${txHash === null ? '' : ` in the transaction ${txHash}`}`
}

function judgeRelease(stuck: StuckTransfer, answers: WalletAnswers): Verdict {
  const { order, knownTxHash } = stuck
  const known = knownOf(stuck)
  const { transfer, transaction, replacement } = answers
  const paying = findPaying(order, answers)
  if (paying !== null) return paying
  if (transfer === null) {
    if (transaction?.status === 'failed' && isSender(order, transaction)) {
      const reason = 'REVERTED: its transaction was mined and reverted'
      const fee = transaction.fee == null ? null : BigInt(transaction.fee)
      const failed = { txHash: txHashKey(transaction.hash), txIndex: null }
      const step = { kind: 'fail', ...failed, fee, feePaidBy: null, reason } as const
      return { proof: 'failed', finding: 'Its transaction was mined and reverted', step }
    }
    return { refusal: 'The wallet service does not know the transfer, which does not prove that it was not sent' }
  }
  // Only the reported hash is compared with the order: `findPaying` found that the known transactions paid nothing.
  const reported = evaluateStatus(order, { txHash: null, txIndex: null }, transfer)
  if (reported.kind === 'halt') return { refusal: reported.reason }
  if (reported.kind === 'fail') {
    const { txHash, txIndex, fee, feePaidBy, reason } = reported
    const finding = `The wallet service reports a failure: ${reason}`
    const failed = txHash === null ? known : { txHash, txIndex }
    return { proof: 'failed', finding, step: { kind: 'fail', ...failed, fee, feePaidBy, reason } }
  }
  const knownHashes = [knownTxHash, transfer.txHash, ...stuck.earlierTxHashes]
  const isOther = replacement !== null && !knownHashes.some((hash) => isHash(replacement, hash))
  const place = isOther && replacement.status !== 'pending' ? lostPlace(order, transfer, answers) : null
  if (isOther && place !== null) {
    const reason = `REPLACED: ${place} by the transaction ${replacement.hash}`
    const finding = `${place.charAt(0).toUpperCase()}${place.slice(1)} by another mined transaction: ${replacement.hash}`
    const step = { kind: 'fail', ...known, fee: null, feePaidBy: null, reason } as const
    return { proof: 'nonce_used', finding, step }
  }
  return { refusal: `The wallet service reports the transfer as ${transfer.status}` }
}

function judgeResumption(stuck: StuckTransfer, answers: WalletAnswers): Verdict {
  const { order, knownTxHash, lasting } = stuck
  const { transfer } = answers
  if (lasting !== null) return stillDiffers(lasting)
  if (transfer !== null) {
    const reported = evaluateStatus(order, knownOf(stuck), transfer)
    if (reported.kind === 'halt') return { refusal: `It would be halted again: ${reported.reason}` }
    const phase = knownTxHash === null ? 'submitted' : 'broadcast'
    const finding = `The wallet service has the transfer as ${transfer.status}, and is asked about it again`
    return { proof: 'known', finding, step: { kind: 'continue', phase } }
  }
  const paying = findPaying(order, answers)
  if (paying !== null) return paying
  const hash = knownTxHash === null ? '' : `, nor tells that the transaction ${knownTxHash} is on the chain`
  const finding = `The wallet service does not know the transfer${hash}; it is handed over again under its id`
  return { proof: 'unknown_to_wallet', finding, step: { kind: 'continue', phase: 'submitting' } }
}

/** Returns the refusal for a transaction that pays the order, or may still pay it, or null when nothing speaks against it. */
function findPaying(order: Payload, answers: WalletAnswers): Verdict | null {
  const { transaction, replacement, earlier, paidToOthers = [] } = answers
  for (const candidate of [transaction, replacement, ...earlier]) {
    if (candidate === null || candidate.status === 'failed') continue
    // A pending transaction may tell neither its payments nor its sender. The replacement is judged by `judgeRelease`.
    if (candidate.status === 'pending' && candidate !== replacement && !isOtherSender(order, candidate)) {
      return { refusal: `Its transaction ${candidate.hash} is not final yet` }
    }
    const paying = payingOf(order, candidate)
    // A part of the replacement that pays the same sum may be the payment of another transfer.
    const isOfOthers = (index: number) => candidate === replacement && paidToOthers.includes(index)
    if ('indexes' in paying && !paying.indexes.every(isOfOthers)) {
      return { refusal: `The transaction ${candidate.hash} pays what was ordered; settle the transfer with it` }
    }
  }
  return null
}

/** Returns the parts of a transaction that pay the order, or its difference from the order. */
function payingOf(order: Payload, transaction: TransactionState): { indexes: number[] } | { mismatch: string } {
  if (!isSender(order, transaction)) return { mismatch: 'its sender is another' }
  const toRecipient = transaction.payments.filter(({ toAddress }) => isSameAddress(toAddress, order.toAddress))
  if (toRecipient.length === 0) return { mismatch: 'it pays nothing to this recipient' }
  const ofToken = toRecipient.filter((payment) =>
    isSameAddress(payment.contractAddress ?? '', order.contractAddress ?? ''),
  )
  if (ofToken.length === 0) return { mismatch: 'it pays another token' }
  // The log of a token names its sender. The sender of the transaction may be another account that may spend the tokens.
  const fromSender = ofToken.filter(
    ({ fromAddress }) => fromAddress == null || isSameAddress(fromAddress, order.fromAddress),
  )
  if (fromSender.length === 0) return { mismatch: 'it pays from another address' }
  const indexes = fromSender.filter(({ amount }) => amount === order.amount).map(({ index }) => index)
  return indexes.length === 0 ? { mismatch: 'it pays another amount' } : { indexes }
}

/** Returns true if the transaction has the sender of the order. Without senders, the address of the order owned all spent outputs. */
function isSender(order: Payload, { from, spent = [] }: TransactionState): boolean {
  if (from !== null) return isSameAddress(from, order.fromAddress)
  return spent.length > 0 && spent.every(({ address }) => address !== null && isSameAddress(address, order.fromAddress))
}

/** Returns true if the transaction names another sender than the order. Returns false for a transaction that names no sender. */
function isOtherSender(order: Payload, { from, spent = [] }: TransactionState): boolean {
  const isOther = (address: string | null) => address !== null && !isSameAddress(address, order.fromAddress)
  return isOther(from) || (from === null && spent.some(({ address }) => isOther(address)))
}

/**
 * Returns the reason, as a part of a sentence, for which no transaction of the transfer can be mined beside the replacement; null without
 * such a reason. The replacement used a nonce of the sender; or it spent the output that every transaction of the transfer spends; or it
 * spent an output on which these transactions build through other transactions, of which none is mined.
 */
function lostPlace(order: Payload, { anchor, replacedBy }: TransferStatus, answers: WalletAnswers): string | null {
  const { replacement, lost = [] } = answers
  if (replacement === null) return null
  if (replacement.from !== null) return isSender(order, replacement) ? 'its nonce was used' : null
  const spends = (output: Output | null | undefined) =>
    output != null && (replacement.spent ?? []).some((spent) => isOutput(spent, output))
  if (spends(anchor)) return 'its output was spent'
  const outputs = replacedBy?.outputs ?? []
  // A transfer that is not signed spends nothing, so it has no anchor. A transaction that was mined is not lost.
  if (anchor == null || !spends(outputs.at(-1)) || lost.some(({ status }) => status !== 'pending')) return null
  return outputs.length === 1 ? 'its output was spent' : 'an output that it builds on was spent'
}

type Output = { txHash: string; index: number }

const isOutput = (left: Output, right: Output): boolean =>
  txHashKey(left.txHash) === txHashKey(right.txHash) && left.index === right.index

function isHash({ hash }: TransactionState, other: string | null): boolean {
  return other !== null && txHashKey(hash) === txHashKey(other)
}

function stillDiffers(difference: string): Verdict {
  return { refusal: `It differs from its audit records: ${difference}` }
}
