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

export type StatusVerdict =
  | { kind: 'wait'; txHash: string | null }
  | { kind: 'confirm'; txHash: string; fee: bigint | null; blockTime: Date | null }
  | { kind: 'fail'; txHash: string | null; fee: bigint | null; reason: string }
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
  const fee =
    reported.fee === null || !isSameAddress(reported.feePaidBy ?? order.fromAddress, order.fromAddress)
      ? null
      : BigInt(reported.fee)
  if (reported.status === 'confirmed') {
    const txHash = reportedHash ?? knownTxHash
    if (txHash === null)
      return { kind: 'halt', reason: 'The wallet service reports a confirmation without a transaction hash' }
    return { kind: 'confirm', txHash, fee, blockTime: readTime(reported.blockTime) }
  }
  if (reported.status === 'failed') {
    return {
      kind: 'fail',
      txHash: reportedHash ?? knownTxHash,
      fee,
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
