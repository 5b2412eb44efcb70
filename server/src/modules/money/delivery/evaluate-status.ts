import { isSameAddress, txHashKey } from '../../../lib/onchain-address.ts'
import type { Payload } from '../orders/payload.ts'

/** The status that a wallet service reports for a transfer (contract 17); the echo of the order is optional. */
export type WalletStatus = {
  status: 'queued' | 'broadcast' | 'confirmed' | 'failed'
  txHash: string | null
  index?: number | null
  fee: string | null
  feePaidBy: string | null
  blockTime: string | null
  failureReason: string | null
  network?: string | null
  fromAddress?: string | null
  toAddress?: string | null
  contractAddress?: string | null
  amount?: string | null
  replacedBy?: { hash: string } | null
}

type Ordered = Pick<Payload, 'amount' | 'toAddress' | 'fromAddress' | 'network' | 'contractAddress'>

/** `feePaidBy` is the address that paid the fee, as the wallet service wrote it; null if the sender paid it. */
export type ReportedFee = { fee: bigint | null; feePaidBy: string | null }

/** The transaction that the wallet service named, and its part that pays the transfer. Each is null if the wallet service named none. */
export type Paying<Hash extends string | null = string | null> = { txHash: Hash; txIndex: number | null }

export type StatusVerdict =
  | ({ kind: 'wait' } & Paying)
  | ({ kind: 'confirm'; blockTime: Date | null } & Paying<string> & ReportedFee)
  | ({ kind: 'fail'; reason: string } & Paying & ReportedFee)
  | { kind: 'halt'; reason: string }

/**
 * Compares the report of the wallet service with the order (threat T25). On any contradiction the transfer halts: its funds
 * stay reserved until people have reviewed it. A new hash is not a contradiction, because a wallet may replace a transaction by
 * one with the same nonce (threat T75).
 *
 * @param known the transaction that was reported earlier, if any
 */
export function evaluateStatus(order: Ordered, known: Paying, reported: WalletStatus): StatusVerdict {
  const { txHash, txIndex } = payingOf(known, reported)
  const mismatch = findMismatch(order, reported)
  if (mismatch !== null) return { kind: 'halt', reason: `The wallet service reports another ${mismatch} than ordered` }
  const fee = reported.fee === null ? null : BigInt(reported.fee)
  const isPaidBySender = isSameAddress(reported.feePaidBy ?? order.fromAddress, order.fromAddress)
  const feePaidBy = fee === null || isPaidBySender ? null : reported.feePaidBy
  if (reported.status === 'confirmed') {
    if (txHash === null)
      return { kind: 'halt', reason: 'The wallet service reports a confirmation without a transaction hash' }
    return { kind: 'confirm', txHash, txIndex, fee, feePaidBy, blockTime: readTime(reported.blockTime) }
  }
  if (reported.status === 'failed') {
    return {
      kind: 'fail',
      txHash,
      txIndex,
      fee,
      feePaidBy,
      reason: reported.failureReason ?? 'The wallet service reports a failure',
    }
  }
  return { kind: 'wait', txHash, txIndex }
}

/** Returns the transaction that pays the transfer now. An index without a hash belongs to the known transaction. */
function payingOf(known: Paying, { txHash: reported, index = null }: WalletStatus): Paying {
  const txHash = reported === null ? known.txHash : txHashKey(reported)
  if (txHash === null) return { txHash, txIndex: null }
  return { txHash, txIndex: index ?? (txHash === known.txHash ? known.txIndex : null) }
}

function findMismatch(order: Ordered, reported: WalletStatus): string | null {
  if (reported.amount != null && reported.amount !== order.amount) return 'amount'
  if (reported.toAddress != null && !isSameAddress(reported.toAddress, order.toAddress)) return 'recipient'
  if (reported.fromAddress != null && !isSameAddress(reported.fromAddress, order.fromAddress)) return 'source'
  if (reported.network != null && reported.network !== order.network) return 'network'
  // Null is a value here: it stands for the coin of the network.
  if (
    reported.contractAddress !== undefined &&
    !isSameAddress(reported.contractAddress ?? '', order.contractAddress ?? '')
  )
    return 'token'
  return null
}

export function readTime(text: string | null): Date | null {
  if (text === null) return null
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? null : time
}
