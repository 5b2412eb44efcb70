import { type Dispatcher, request } from 'undici'
import type { Config } from '../../../config/config.ts'
import { type AppError, badGateway } from '../../../lib/errors.ts'
import { walletCallTimeoutMilliseconds, walletResponseBytesMax } from '../../../lib/limits.ts'
import { parseStrictJson } from '../../../lib/strict-json.ts'
import { createGuardedDispatcher, isConnectError, isForbiddenTarget } from '../../../outbound/guarded-connect.ts'
import { AnswerTooLongError, readWithin } from '../../../outbound/read-within.ts'
import { authorizationCodes, type Check, checks } from './answers.ts'

/**
 * The reason for which a call failed. After three kinds it is certain that the order was not accepted: `unreachable` (no connection
 * was made, nothing was sent), `refused` (the service understood the order and rejects it) and `conflict` (the id exists with a
 * different order). After `timeout` (no complete answer in time), `failed` (5xx, a lost connection, a rejected secret, a wrong URL)
 * and `invalid` (an answer outside the protocol) the order may have been accepted.
 */
type WalletErrorKind = 'unreachable' | 'timeout' | 'refused' | 'conflict' | 'failed' | 'invalid'

/** A failed call to a wallet service; its message is for logs and for members of the vault. */
export class WalletServiceError extends Error {
  readonly kind: WalletErrorKind
  /** The HTTP status, if there was one. */
  readonly status: number | null
  /** The code in capitals at the beginning of the details of a 409 or of a refused authorization; null without such a code. */
  readonly code: string | null
  constructor(
    kind: WalletErrorKind,
    message: string,
    options: { status?: number; code?: string | null; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'WalletServiceError'
    this.kind = kind
    this.status = options.status ?? null
    this.code = options.code ?? null
  }
}

/** Returns true if the wallet service did not answer, and may answer a later call. */
export function isSilence(error: unknown): boolean {
  if (!(error instanceof WalletServiceError) || isForbiddenWallet(error)) return false
  return error.kind === 'timeout' || error.kind === 'unreachable'
}

/** Returns true if the service may not connect to the URL. A later call fails in the same way. */
export function isForbiddenWallet(error: unknown): boolean {
  return error instanceof WalletServiceError && isForbiddenTarget(error.cause)
}

/**
 * Returns the error for the caller of the API. The text of the wallet service stays in the log: its URL is configurable, so its
 * answers must not become a way to read other services in the network of this service.
 */
export function toBadGateway(error: WalletServiceError): AppError {
  return badGateway(isForbiddenWallet(error) ? forbiddenWallet : messages[error.kind], error)
}

/** Handles an error in a `catch`: a WalletServiceError becomes the error for the caller, any other error is thrown as it is. */
export function throwBadGateway(error: unknown): never {
  throw error instanceof WalletServiceError ? toBadGateway(error) : error
}

/** The message for a forbidden URL. It names the people who can change the URL or the list, because later calls fail, too. */
export const forbiddenWallet =
  'The service may not connect to the wallet service: its address is not public, and WALLET_ALLOWED_HOSTS does not list it. ' +
  'An administrator of the vault can change walletServiceUrl; the operator of the service can change the list.'

const messages: Record<WalletErrorKind, string> = {
  unreachable: 'The wallet service cannot be reached',
  timeout: 'The wallet service did not answer in time',
  refused: 'The wallet service refused the request',
  conflict: 'The wallet service refused the request as conflicting',
  failed: 'The wallet service failed',
  invalid: 'The wallet service returned an invalid answer',
}

type Reach = Pick<Config, 'walletAllowedHosts' | 'demo'>

const dispatchers = new WeakMap<Reach, Dispatcher>()

/** Returns the pool of connections for all vaults of this node. */
export function dispatcherOf(config: Reach): Dispatcher {
  const known = dispatchers.get(config)
  if (known !== undefined) return known
  const dispatcher = createGuardedDispatcher({
    allowedHosts: config.walletAllowedHosts,
    allowsLoopback: config.demo,
    connectTimeoutMilliseconds: walletCallTimeoutMilliseconds / 2,
  })
  dispatchers.set(config, dispatcher)
  return dispatcher
}

export const withoutSlash = (url: string) => url.replace(/\/+$/, '')

/** Returns true if a wallet service answers with a status below 500. The request has no secret. */
export async function isWalletReachable(url: string, dispatcher: Dispatcher, deadline: AbortSignal): Promise<boolean> {
  try {
    const service = { base: withoutSlash(url), secret: null, dispatcher }
    return (await exchange(service, deadline, { method: 'GET', path: '/healthz' })).status < 500
  } catch {
    return false
  }
}

/** `base` has no slash at its end. */
type Service = { base: string; secret: string | null; dispatcher: Dispatcher }
export type Call = { method: 'GET' | 'POST'; path: string; body?: object; isNullOn404?: boolean; bytesMax?: number }
export type Reply = { status: number; text: string }

/** Makes one call and reads its answer up to a limit. @throws WalletServiceError when the call does not succeed */
export async function send(service: Service, deadline: AbortSignal, call: Call): Promise<Reply> {
  const { base } = service
  const reply = await exchange(service, deadline, call).catch((error: unknown) => {
    if (error instanceof AnswerTooLongError) throw new WalletServiceError('invalid', error.message)
    if (isConnectError(error)) {
      throw new WalletServiceError('unreachable', `No connection to ${base}: ${messageOf(error)}`, { cause: error })
    }
    if (deadline.aborted) {
      throw new WalletServiceError('timeout', `${base} did not answer in time`, { cause: error })
    }
    throw new WalletServiceError('failed', `The connection to ${base} was lost: ${messageOf(error)}`, { cause: error })
  })
  if ((reply.status >= 200 && reply.status < 300) || (reply.status === 404 && call.isNullOn404 === true)) return reply
  throw toStatusError(reply)
}

async function exchange(
  { base, secret, dispatcher }: Service,
  signal: AbortSignal,
  { method, path, body, bytesMax = walletResponseBytesMax }: Call,
): Promise<Reply> {
  const response = await request(base + path, {
    method,
    dispatcher,
    signal,
    headers: {
      accept: 'application/json',
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await readWithin(response.body, bytesMax)
  return { status: response.statusCode, text: answer.toString('utf8') }
}

/** Client errors that say nothing about the order, because their cause is the configuration or a temporary state. */
const circumstantialStatuses = new Set([401, 403, 404, 405, 407, 408, 421, 425, 429])

function toStatusError({ status, text }: Reply): WalletServiceError {
  if (status >= 300 && status < 400) {
    return new WalletServiceError('invalid', `Answered ${status}; redirects are not followed`, { status })
  }
  const message = `Answered ${status}: ${wordsOf(text)}`
  const code = codeOf(text)
  if (status === 403 && code !== null && authorizationCodes.has(code))
    return new WalletServiceError('refused', wordsOf(text), { status, code })
  if (status === 409) return new WalletServiceError('conflict', message, { status, code })
  if (status >= 500 || circumstantialStatuses.has(status)) return new WalletServiceError('failed', message, { status })
  if (status >= 400) return new WalletServiceError('refused', wordsOf(text), { status })
  return new WalletServiceError('invalid', message, { status })
}

/** Returns true for errors that another attempt may avoid: no connection, a lost connection, or a server error. */
export function isWorthRepeating(error: unknown): boolean {
  if (!(error instanceof WalletServiceError)) return false
  if (error.status === 501 || isForbiddenWallet(error)) return false
  return error.kind === 'unreachable' || (error.kind === 'failed' && (error.status === null || error.status >= 500))
}

/** Returns the content of an answer. @throws WalletServiceError when it does not follow the protocol */
export function read<T>(check: Check<T>, { status, text }: Reply): T {
  const value = parse(text)
  if (check(value)) return value
  throw new WalletServiceError('invalid', 'The answer does not follow the wallet protocol', { status })
}

/** Parses JSON. Returns undefined, which matches no schema, for invalid or ambiguous JSON. */
function parse(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch {
    return undefined
  }
}

function codeOf(text: string): string | null {
  const value = parse(text)
  const details = checks.refusal(value) ? value.details : undefined
  return typeof details === 'string' ? (/^([A-Z_]{3,40})(?::|$)/.exec(details)?.[1] ?? null) : null
}

function wordsOf(text: string): string {
  const value = parse(text)
  return checks.refusal(value) ? plainText(value.message) : 'no reason given'
}

/** Makes text of another service safe to store and show: one line, of limited length, without control characters. */
export function plainText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, 500)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
