import type { Logger } from 'pino'
import { BaseError, type Hex } from 'viem'
import { describeNodeError } from '../chains/describe-node-error.ts'
import type { Chain } from '../chains/open-chain.ts'
import { findNonceUse } from '../chains/read-transaction.ts'
import type { PresentedRow } from './transfer-row.ts'

/**
 * The final transaction of somebody else who has the same key, which used the nonce of a transfer; null when there is
 * none or it cannot be seen. Only a transaction that the node has lost is looked at: any other is mined or waits.
 */
export async function findReplacement(
  chain: Chain | undefined,
  { id, status, resend, nonce, from_address, tx_hashes }: PresentedRow,
  log: Logger,
): Promise<Hex | null> {
  if (chain === undefined || status !== 'broadcast' || !resend || nonce === null) return null
  try {
    const hash = await findNonceUse(chain, from_address, Number(nonce))
    return hash === null || tx_hashes.includes(hash) ? null : hash
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    log.warn(
      { transferId: id, error: describeNodeError(error) },
      'the node cannot tell who used the nonce of a transfer',
    )
    return null
  }
}
