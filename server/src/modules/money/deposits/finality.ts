import { badRequest } from '../../../lib/errors.ts'

/** Why an event is not credited, at least not yet. */
export const notFinalReasons = ['failed', 'unconfirmed'] as const
export type NotFinal = (typeof notFinalReasons)[number]

/** The status values that wallets and nodes report; `1` and `0x1` are the status of an Ethereum receipt. */
const meanings: Record<string, NotFinal | 'final'> = {
  ...named(
    'final',
    'success successful succeeded ok true 1 0x1 mined confirmed complete completed final finalized finalised',
  ),
  ...named(
    'failed',
    'fail failed failure error false 0 0x0 revert reverted rejected invalid dropped replaced expired aborted cancelled canceled',
  ),
  ...named('unconfirmed', 'pending unconfirmed queued submitted broadcast broadcasted broadcasting processing mempool'),
}

/**
 * Reads from the optional `status`, `success` and `confirmations` of an event whether its transaction is final. Each may
 * be absent; a value that cannot be read is refused, because it may mean that nothing was paid.
 *
 * @returns null when it is final
 * @throws 400 that names the field
 */
export function notFinalReason(tx: Record<string, unknown>): NotFinal | null {
  const meaningsFound = [meaningOf(tx, 'status'), meaningOf(tx, 'success'), depthOf(tx.confirmations)]
  if (meaningsFound.includes('failed')) return 'failed'
  return meaningsFound.includes('unconfirmed') ? 'unconfirmed' : null
}

function meaningOf(tx: Record<string, unknown>, name: string): NotFinal | 'final' {
  const value = tx[name]
  if (value === undefined || value === null) return 'final'
  const meaning = Object.hasOwn(meanings, String(value).toLowerCase())
    ? meanings[String(value).toLowerCase()]
    : undefined
  if (meaning === undefined || typeof value === 'object') {
    throw badRequest(`tx.${name}`, 'must be one of the values in docs/wallet-protocol.md')
  }
  return meaning
}

function depthOf(confirmations: unknown): NotFinal | 'final' {
  if (confirmations === undefined || confirmations === null) return 'final'
  const isNumber = typeof confirmations === 'number' || typeof confirmations === 'string'
  if (!isNumber || !/^\d{1,15}$/.test(String(confirmations))) {
    throw badRequest('tx.confirmations', 'must be a whole number from 0')
  }
  return Number(confirmations) === 0 ? 'unconfirmed' : 'final'
}

function named<Meaning>(meaning: Meaning, words: string): Record<string, Meaning> {
  return Object.fromEntries(words.split(' ').map((word) => [word, meaning]))
}
