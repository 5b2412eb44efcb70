import { type AppError, conflict } from '../../../lib/errors.ts'
import type { WalletServiceError } from '../../registry/wallet-service/client.ts'

/** The codes of the protocol in our words: the text of a wallet service stays in the log. */
export const sentences: Record<string, string> = {
  NOT_SIGNED: 'There is no transaction yet that could be replaced',
  ALREADY_MINED: 'A transaction with this nonce is in a block already',
  ENDED: 'The wallet service has ended the transfer already',
  EARLIER_FIRST: 'An earlier transfer of the address must be mined first',
  ABOVE_MAX_FEE: 'A replacement must pay more than the order permits',
  FEE_HIGH_ENOUGH: 'The transaction pays far more than what is usual now',
  INSUFFICIENT_FUNDS: 'The address cannot pay for a replacement',
  AUTHORIZATION_REFUSED: 'What was signed does not permit a replacement any more',
  TOO_MANY: 'The transaction was replaced too often',
}
export const sentenceOf = (code: string | null): string =>
  (code === null ? undefined : sentences[code]) ?? 'The wallet service cannot replace the transaction now'
/** Statuses of a wallet service that has no such operation. */
export const unsupported = new Set([404, 405, 501])
/** The refusal of the wallet service in our words; null when it is unknown whether it replaced the transaction. */
export function refusalOf({ kind, status, code }: WalletServiceError): AppError | null {
  if (kind === 'conflict')
    return conflict(code === 'ABOVE_MAX_FEE' ? 'above_max_fee' : 'not_replaceable', sentenceOf(code))
  if (status !== null && unsupported.has(status))
    return conflict('not_replaceable', 'The wallet service cannot replace transactions')
  return null
}
