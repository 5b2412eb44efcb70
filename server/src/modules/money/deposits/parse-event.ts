import { AppError, badRequest } from '../../../lib/errors.ts'
import { addressLengthMax, txHashLengthMax } from '../../../lib/limits.ts'
import { decimalPattern } from '../../../lib/money.ts'
import { txHashKey } from '../../../lib/onchain-address.ts'
import { parseTimestamp } from '../../../lib/period.ts'
import { type NotFinal, notFinalReason } from './finality.ts'

/** A deposit as the wallet service reports it; the amount is still in token units. */
export type DepositEvent = {
  network: string
  /** null: the coin of the network. */
  contract: string | null
  amountDecimal: string
  toAddress: string
  txHash: string
  index: number
  fromAddress: string | null
  blockTime: Date | null
  /** Why it must not be credited, at least not yet; null: its transaction is final. */
  notFinal: NotFinal | null
}

/**
 * Parses a wallet event. Unknown fields are ignored; the known ones are validated.
 * Returns null for an event type that is ignored (anything but TOPUP).
 * @throws 400 that names the wrong field
 */
export function parseWalletEvent(body: unknown): DepositEvent | null {
  if (!isObject(body)) throw badRequest('body', 'must be a JSON object')
  const kind = body.kind ?? body.type ?? body.event
  if (typeof kind !== 'string') throw badRequest('kind', 'must be a string')
  if (kind !== 'TOPUP') return null
  const tx = body.tx
  if (!isObject(tx)) throw badRequest('tx', 'must be an object')

  const amount = tx.amount
  if (typeof amount !== 'string' || !new RegExp(decimalPattern).test(amount)) {
    throw badRequest('tx.amount', 'must be a decimal string in token units')
  }
  if (/^[0.]+$/.test(amount)) throw badRequest('tx.amount', 'must be greater than 0')
  const index = tx.index ?? 0
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index > 2_147_483_647) {
    throw badRequest('tx.index', 'must be a whole number from 0')
  }
  const blockTime = typeof tx.blockTime === 'string' ? parseTimestamp(tx.blockTime) : null
  if (blockTime === null && tx.blockTime != null)
    throw badRequest('tx.blockTime', 'must be an ISO 8601 timestamp with a zone')
  return {
    network: text(tx, 'network', 64),
    contract: contractOf(tx.asset),
    amountDecimal: amount,
    toAddress: text(tx, 'toAddress', addressLengthMax),
    txHash: txHashKey(text(tx, 'txHash', txHashLengthMax)),
    index,
    fromAddress: tx.fromAddress == null ? null : text(tx, 'fromAddress', addressLengthMax),
    blockTime,
    notFinal: notFinalReason(tx),
  }
}

/** Parses a stored event; null when it is of an ignored type or would be refused today. */
export function parseStoredEvent(body: string): DepositEvent | null {
  try {
    return parseWalletEvent(JSON.parse(body))
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

function text(tx: Record<string, unknown>, name: string, lengthMax: number): string {
  const value = tx[name]
  if (!isText(value, lengthMax)) {
    throw badRequest(`tx.${name}`, `must be a string of 1 to ${lengthMax} characters without spaces`)
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
