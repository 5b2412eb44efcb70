import { isSameAddress, txHashKey } from '../../../lib/onchain-address.ts'
import type { Payload } from '../orders/payload.ts'

/** The status that a wallet service reports for a transfer (contract 17); the echo of the order is optional. */
export type WalletStatus = {
  status: 'queued' | 'broadcast' | 'confirmed' | 'failed'
  txHash: string | null
  fee: string | null
  feePaidBy: string | null
  blockTime: string | null
  failureReason: string | null
  network?: string | null
  fromAddress?: string | null
  toAddress?: string | null
  contractAddress?: string | null
  amount?: string | null
}

type Ordered = Pick<Payload, 'amount' | 'toAddress' | 'fromAddress' | 'network' | 'contractAddress'>

/** `feePaidBy`: the address that paid, as the wallet service wrote it, if it is not the sender; null for the sender. */
export type ReportedFee = { fee: bigint | null; feePaidBy: string | null }

export type StatusVerdict =
  | { kind: 'wait'; txHash: string | null }
  | ({ kind: 'confirm'; txHash: string; blockTime: Date | null } & ReportedFee)
  | ({ kind: 'fail'; txHash: string | null; reason: string } & ReportedFee)
  | { kind: 'halt'; reason: string }

/**
 * Compares the report of the wallet service with the order (threat T25). On any contradiction the transfer halts: its funds
 * stay reserved until people have reviewed it. A new hash is no contradiction, because a wallet may replace a transaction by
 * one with the same nonce (threat T75).
 *
 * @param knownTxHash the transaction hash that was reported earlier, if any
 */
export function evaluateStatus(order: Ordered, knownTxHash: string | null, reported: WalletStatus): StatusVerdict {
  const reportedHash = reported.txHash === null ? null : txHashKey(reported.txHash)
  const mismatch = findMismatch(order, reported)
  if (mismatch !== null) return { kind: 'halt', reason: `The wallet service reports another ${mismatch} than ordered` }
  const fee = reported.fee === null ? null : BigInt(reported.fee)
  const isPaidBySender = isSameAddress(reported.feePaidBy ?? order.fromAddress, order.fromAddress)
  const feePaidBy = fee === null || isPaidBySender ? null : reported.feePaidBy
  if (reported.status === 'confirmed') {
    const txHash = reportedHash ?? knownTxHash
    if (txHash === null)
      return { kind: 'halt', reason: 'The wallet service reports a confirmation without a transaction hash' }
    return { kind: 'confirm', txHash, fee, feePaidBy, blockTime: readTime(reported.blockTime) }
  }
  if (reported.status === 'failed') {
    return {
      kind: 'fail',
      txHash: reportedHash ?? knownTxHash,
      fee,
      feePaidBy,
      reason: reported.failureReason ?? 'The wallet service reports a failure',
    }
  }
  return { kind: 'wait', txHash: reportedHash ?? knownTxHash }
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
