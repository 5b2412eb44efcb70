import type { Logger } from 'pino'
import type { Chain, Rival } from '../chains/chain.ts'
import { describeNodeError, isNodeError } from '../chains/node-error.ts'
import type { PresentedRow } from './transfer-row.ts'

/**
 * The final transaction that took the place of a transfer; null when there is none or it cannot be seen. Only a transaction that the node
 * has lost, or never took, is looked at: any other is mined or waits.
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
