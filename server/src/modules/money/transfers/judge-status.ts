import { txHashKey } from '../../../lib/onchain-address.ts'
import type { Payload } from './payload.ts'

/** What a wallet service says of a transfer (decisions.md, section 10); the echo of the order is optional. */
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

export type Judgement =
  | { kind: 'wait'; txHash: string | null }
  | { kind: 'confirm'; txHash: string; fee: bigint | null; blockTime: Date | null }
  | { kind: 'fail'; txHash: string | null; fee: bigint | null; reason: string }
  | { kind: 'halt'; reason: string }

/**
 * Holds what the wallet service says against what was ordered and what it said before (threat 25). On any
 * contradiction the transfer halts: its funds stay reserved until people have looked at it.
 *
 * @param knownTxHash the hash it named earlier, if any
 */
export function judgeStatus(order: Payload, knownTxHash: string | null, said: WalletStatus): Judgement {
  const txHashSaid = said.txHash === null ? null : txHashKey(said.txHash)
  const lie = findLie(order, said)
  if (lie !== null) return { kind: 'halt', reason: `The wallet service reports another ${lie} than ordered` }
  if (knownTxHash !== null && txHashSaid !== null && knownTxHash !== txHashSaid) {
    return { kind: 'halt', reason: 'The wallet service reports another transaction hash than before' }
  }
  const fee =
    said.fee === null || !isSame(said.feePaidBy ?? order.fromAddress, order.fromAddress) ? null : BigInt(said.fee)
  if (said.status === 'confirmed') {
    const txHash = txHashSaid ?? knownTxHash
    if (txHash === null)
      return { kind: 'halt', reason: 'The wallet service reports a confirmation without a transaction hash' }
    return { kind: 'confirm', txHash, fee, blockTime: readTime(said.blockTime) }
  }
  if (said.status === 'failed') {
    return {
      kind: 'fail',
      txHash: txHashSaid ?? knownTxHash,
      fee,
      reason: said.failureReason ?? 'The wallet service reports a failure',
    }
  }
  return { kind: 'wait', txHash: txHashSaid ?? knownTxHash }
}

function findLie(order: Payload, said: WalletStatus): string | null {
  if (said.amount != null && said.amount !== order.amount) return 'amount'
  if (said.toAddress != null && !isSame(said.toAddress, order.toAddress)) return 'recipient'
  if (said.fromAddress != null && !isSame(said.fromAddress, order.fromAddress)) return 'source'
  if (said.network != null && said.network !== order.network) return 'network'
  // Null is a statement here: the coin of the network.
  if (said.contractAddress !== undefined && !isSame(said.contractAddress ?? '', order.contractAddress ?? ''))
    return 'token'
  return null
}

/** Hex is compared without case: nodes and wallets disagree on it. */
function isSame(a: string, b: string): boolean {
  return a === b || (a.startsWith('0x') && a.toLowerCase() === b.toLowerCase())
}

function readTime(text: string | null): Date | null {
  if (text === null) return null
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? null : time
}
