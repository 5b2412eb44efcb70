import { AppError, badRequest } from '../../../lib/errors.ts'
import { addressLengthMax, nameLengthMax, txHashLengthMax } from '../../../lib/limits.ts'
import { decimalPattern } from '../../../lib/money.ts'
import { txHashKey } from '../../../lib/onchain-address.ts'
import { parseTimestamp } from '../../../lib/period.ts'

/** `TOPUP`: a deposit is final. `DEPOSIT_ORPHANED`: a deposit that was reported as final is no longer in the chain. */
const eventKinds = ['TOPUP', 'DEPOSIT_ORPHANED'] as const
type EventKind = (typeof eventKinds)[number]

/** A deposit as the wallet service reports it; the amount is still in token units. */
export type DepositEvent = {
  kind: EventKind
  /** The number of times that the deposit was orphaned before. An event with a lower number is outdated, whenever it arrives. */
  occurrence: number
  /** The slug, code or name of the network. */
  network: string
  /** The contract of the token; null for the coin of the network. */
  contract: string | null
  amountDecimal: string
  toAddress: string
  txHash: string
  index: number
  fromAddress: string | null
  blockTime: Date | null
  /** The reason why the deposit must not be credited, or not yet; null when its transaction is final. */
  notFinal: NotFinal | null
}

/**
 * Parses a wallet event. Unknown fields are ignored; known fields are validated. Returns null for an ignored event type.
 * @throws 400 that names the wrong field
 */
export function parseWalletEvent(body: unknown): DepositEvent | null {
  if (!isObject(body)) throw badRequest('body', 'must be a JSON object')
  const named = body.kind ?? body.type ?? body.event
  if (typeof named !== 'string') throw badRequest('kind', 'must be a string')
  const kind = eventKinds.find((known) => known === named)
  if (kind === undefined) return null
  const tx = body.tx
  if (!isObject(tx)) throw badRequest('tx', 'must be an object')

  const amount = tx.amount
  if (typeof amount !== 'string' || !new RegExp(decimalPattern).test(amount)) {
    throw badRequest('tx.amount', 'must be a decimal string in token units')
  }
  if (/^[0.]+$/.test(amount)) throw badRequest('tx.amount', 'must be greater than 0')
  const blockTime = typeof tx.blockTime === 'string' ? parseTimestamp(tx.blockTime) : null
  if (blockTime === null && tx.blockTime != null)
    throw badRequest('tx.blockTime', 'must be an ISO 8601 timestamp with a zone')
  return {
    kind,
    occurrence: count(tx, 'occurrence'),
    network: networkOf(tx.network),
    contract: contractOf(tx.asset),
    amountDecimal: amount,
    toAddress: text(tx, 'toAddress', addressLengthMax),
    txHash: txHashKey(text(tx, 'txHash', txHashLengthMax)),
    index: count(tx, 'index'),
    fromAddress: tx.fromAddress == null ? null : text(tx, 'fromAddress', addressLengthMax),
    blockTime,
    // A transaction that is gone is not final, whatever the event reports.
    notFinal: kind === 'TOPUP' ? notFinalReason(tx) : null,
  }
}

/**
 * Parses a stored event. Returns null for an ignored type, and for an event that would be refused today. Its network is the one
 * found at its arrival, because another network may have the name by now.
 */
export function parseStoredEvent({ body, network }: { body: string; network: string | null }): DepositEvent | null {
  try {
    const event = parseWalletEvent(JSON.parse(body))
    return event === null || network === null ? event : { ...event, network }
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function contractOf(asset: unknown): string | null {
  if (asset === undefined || asset === null || asset === '' || asset === 'native') return null
  if (!isText(asset, addressLengthMax)) throw badRequest('tx.asset', 'must be a contract address')
  return /^0x0{40}$/i.test(asset) ? null : asset
}

/** The name of a network may hold spaces, unlike its slug. */
function networkOf(network: unknown): string {
  if (typeof network !== 'string' || !isText(network.replaceAll(' ', '-'), nameLengthMax)) {
    throw badRequest('tx.network', `must be a string of 1 to ${nameLengthMax} characters`)
  }
  return network
}

function text(tx: Record<string, unknown>, name: string, lengthMax: number): string {
  const value = tx[name]
  if (!isText(value, lengthMax)) {
    throw badRequest(`tx.${name}`, `must be a string of 1 to ${lengthMax} characters without spaces`)
  }
  return value
}

/** A whole number that fits an integer column; 0 when it is left out. */
function count(tx: Record<string, unknown>, name: string): number {
  const value = tx[name] ?? 0
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 2_147_483_647) {
    throw badRequest(`tx.${name}`, 'must be a whole number from 0')
  }
  return value
}

function isText(value: unknown, lengthMax: number): value is string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters to refuse them.
  return typeof value === 'string' && value !== '' && value.length <= lengthMax && !/[\s\u0000-\u001f]/.test(value)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The reasons why an event is not credited, or not yet. */
export const notFinalReasons = ['failed', 'unconfirmed'] as const
type NotFinal = (typeof notFinalReasons)[number]

/** The status values that wallets and nodes report; `1` and `0x1` are the status of an Ethereum receipt. */
const meanings = new Map<string, NotFinal | 'final'>([
  ...named(
    'final',
    'success successful succeeded ok true 1 0x1 mined confirmed complete completed final finalized finalised',
  ),
  ...named(
    'failed',
    'fail failed failure error false 0 0x0 revert reverted rejected invalid dropped replaced expired aborted cancelled canceled',
  ),
  ...named('unconfirmed', 'pending unconfirmed queued submitted broadcast broadcasted broadcasting processing mempool'),
])

/**
 * Reads from the optional `status`, `success` and `confirmations` of an event whether its transaction is final. Each may be
 * absent. An unreadable value is refused, because it may mean that nothing was paid.
 *
 * @returns null when the transaction is final
 * @throws 400 that names the field
 */
function notFinalReason(tx: Record<string, unknown>): NotFinal | null {
  const meaningsFound = [meaningOf(tx, 'status'), meaningOf(tx, 'success'), depthOf(tx.confirmations)]
  if (meaningsFound.includes('failed')) return 'failed'
  return meaningsFound.includes('unconfirmed') ? 'unconfirmed' : null
}

function meaningOf(tx: Record<string, unknown>, name: string): NotFinal | 'final' {
  const value = tx[name]
  if (value === undefined || value === null) return 'final'
  const meaning = meanings.get(String(value).toLowerCase())
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

function named(meaning: NotFinal | 'final', words: string): [string, NotFinal | 'final'][] {
  return words.split(' ').map((word) => [word, meaning])
}
