import type { Logger } from 'pino'
import type { Chain, Rival } from '../chains/chain.ts'
import { describeNodeError, isNodeError } from '../chains/node-error.ts'
import type { PresentedRow } from './transfer-row.ts'

/**
 * Returns the final transaction that took the place of a transfer; null when no transaction took it, or when the node cannot tell.
 * Examines only transactions that the node has lost or never took, because each of the others is mined or waits.
 */
export async function findReplacement(
  chain: Chain | undefined,
  transfer: PresentedRow,
  log: Logger,
): Promise<Rival | null> {
  const { status, resend, tx_hash, last_error } = transfer
  const isRefused = status === 'queued' && tx_hash !== null && last_error !== null
  if (chain === undefined || !(isRefused || (status === 'broadcast' && resend))) return null
  try {
    return await chain.findRival(transfer)
  } catch (error) {
    if (!isNodeError(error)) throw error
    log.warn(
      { transferId: transfer.id, error: describeNodeError(error) },
      'the node cannot tell who took the place of a transfer',
    )
    return null
  }
}
