import { type Dispatcher, request } from 'undici'
import type { Config } from '../../../config/config.ts'
import { type AppError, badGateway } from '../../../lib/errors.ts'
import type { FeeLevel } from '../../../lib/fee-levels.ts'
import {
  walletCallTimeoutMilliseconds,
  walletChangesBytesMax,
  walletChangesMax,
  walletReadAttemptsMax,
  walletResponseBytesMax,
} from '../../../lib/limits.ts'
import { txHashKey } from '../../../lib/onchain-address.ts'
import { createGuardedDispatcher, isConnectError, isForbiddenTarget } from '../../../outbound/guarded-connect.ts'
import { AnswerTooLongError, readWithin } from '../../../outbound/read-within.ts'
import {
  type AuthorityDocument,
  authorizationCodes,
  type Check,
  checks,
  type ReplacementQuote,
  type ShownAccountKey,
  type TransactionState,
  type TransferStatus,
} from './answers.ts'
import { codeOf, isPossible, messageOf, parse, withPlainReason, wordsOf } from './reply-text.ts'

export type AddressOrder = { network: string; coinType: number; derivationPath: string }
export type TransferOrder = {
  id: string
  network: string
  coinType: number
  derivationPath: string
  fromAddress: string
  toAddress: string
  /** Null for the coin of the network. */
  contractAddress: string | null
  /** The amount in smallest units, as digits. */
  amount: string
  /** Sent only if the order has it, because a wallet service of an earlier version refuses the field. */
  feeLevel?: FeeLevel
  maxFee?: string
  /** The signed votes and orders; only for orders of protected vaults. */
  authorization?: Authorization
}
export type Authorization = { order: object; authorityVersion: number; votes: object[]; batch?: object }
/** The fields of a replacement: the transaction that the caller knows, and the limit that replaces the limit of the order. */
export type Replacement = { txHash: string | null; maxFee?: string }
export type ReplacementAction = 'speed-up' | 'cancel-on-chain'
export type FeeQuestion = Omit<TransferOrder, 'id' | 'coinType' | 'derivationPath' | 'maxFee' | 'authorization'>
export type ChangesQuestion = { after: string | null; wait: number }
/** The newest reported status of each transfer, in the order in which they came, and the number of malformed entries. */
export type Changes = { statuses: Map<string, TransferStatus>; malformed: number; cursor: string }
/** The question for the key of an account. The wallet service signs the challenge with its answer. */
export type AccountKeyQuestion = { network: string; derivationPath: string; challenge: string }
export type BalanceQuestion = { network: string; address: string; contract: string | null }

/**
 * The reason for which a call failed. After three kinds it is certain that the order was not accepted: `unreachable` (no connection
 * was made, nothing was sent), `refused` (the service understood the order and rejects it) and `conflict` (the id exists with a
 * different order). After `timeout` (no complete answer in time), `failed` (5xx, a lost connection, a rejected secret, a wrong URL)
 * and `invalid` (an answer outside the protocol) the order may have been accepted.
 */
export type WalletErrorKind = 'unreachable' | 'timeout' | 'refused' | 'conflict' | 'failed' | 'invalid'

/** A failed call to a wallet service; its message is for logs and for members of the vault. */
export class WalletServiceError extends Error {
  readonly kind: WalletErrorKind
  /** The HTTP status, if there was one. */
  readonly status: number | null
  /** The code in capitals with which the details of a 409, or of a refused authorization, begin; null without one. */
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

export type WalletClient = {
  /** Creates an address. It is idempotent by derivation path. The answer is not yet checked against the network. */
  createAddress(order: AddressOrder, deadline?: AbortSignal): Promise<{ address: string }>
  /** Submits a transfer. It is idempotent by id and sent once: the caller decides whether it is repeated. */
  submitTransfer(order: TransferOrder): Promise<TransferStatus>
  /** Returns the public key of an account, unchecked. Returns null when the service does not offer it (404, 405, 501). */
  getAccountKey(question: AccountKeyQuestion, deadline?: AbortSignal): Promise<ShownAccountKey | null>
  /** Returns the authority with which the service checks signatures; null when it has none. */
  findAuthority(): Promise<AuthorityDocument | null>
  /** Cancels the waiting version of the authority, by votes on its hash. It is sent once. Returns null when no version waits. */
  cancelAuthority(votes: object[]): Promise<AuthorityDocument | null>
  /** Returns the status of a transfer; null when the service does not know the transfer. */
  getTransfer(id: string): Promise<TransferStatus | null>
  /**
   * Waits for changes after the cursor of an earlier answer. Returns null when not offered (404, 405, 501), 'lost' for an
   * unknown cursor.
   */
  listChanges(question: ChangesQuestion, stopping: AbortSignal): Promise<Changes | 'lost' | null>
  /** Replaces a transaction. It is idempotent by the replaced transaction, and sent once. */
  replaceTransaction(id: string, action: ReplacementAction, replacement: Replacement): Promise<TransferStatus>
  /** Sends signed vetoes and cancellations to the service, which then never signs those orders. A repetition changes nothing. */
  stopOrders(votes: object[]): Promise<void>
  /** Returns the present maximum cost of a replacement, or the reason for which it would be refused. */
  quoteReplacement(id: string): Promise<ReplacementQuote>
  /** Returns null when the chain does not know it, or when the lookup is not offered (404, 405, 501), which proves nothing. */
  getTransaction(question: { network: string; hash: string }): Promise<TransactionState | null>
  /** Returns the balance in raw smallest units, as the chain knows it. */
  getBalance(question: BalanceQuestion, deadline?: AbortSignal): Promise<{ balance: string }>
  /** Returns the fee in raw smallest units of the network's coin. */
  estimateFee(question: FeeQuestion, deadline?: AbortSignal): Promise<{ fee: string }>
}

type ClientOptions = {
  /** The base URL, with or without a trailing slash. */
  url: string
  /** The bearer secret, or null. */
  secret: string | null
  dispatcher: Dispatcher
  timeoutMilliseconds?: number
  /** The first pause before a repetition. It doubles each time. */
  backoffMilliseconds?: number
}

/**
 * Creates the client of one wallet service (contract 17). It follows no redirects, reads bounded answers and accepts only those
 * that match the protocol. All methods throw WalletServiceError.
 */
export function createWalletClient({
  url,
  secret,
  dispatcher,
  timeoutMilliseconds = walletCallTimeoutMilliseconds,
  backoffMilliseconds = 100,
}: ClientOptions): WalletClient {
  const service = { base: withoutSlash(url), secret, dispatcher }
  const timeout = () => AbortSignal.timeout(timeoutMilliseconds)
  const once = (call: Call, deadline = timeout()) => send(service, deadline, call)
  // All attempts share one time limit, so that an unreachable service does not delay a caller three times as long.
  const repeatedly = async (call: Call, limit?: AbortSignal): Promise<Reply> => {
    const deadline = limit === undefined ? timeout() : AbortSignal.any([limit, timeout()])
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(call, deadline)
      } catch (error) {
        if (attempt >= walletReadAttemptsMax || deadline.aborted || !isWorthRepeating(error)) throw error
        await new Promise((resolve) => setTimeout(resolve, backoffMilliseconds * 2 ** (attempt - 1)))
      }
    }
  }
  const get = (path: string, deadline?: AbortSignal) => repeatedly({ method: 'GET', path }, deadline)
  const post = (path: string, body: object, deadline?: AbortSignal) =>
    repeatedly({ method: 'POST', path, body }, deadline)
  /** Returns null for a 404. */
  async function find<T>(path: string, readReply: (reply: Reply) => T, deadline?: AbortSignal): Promise<T | null> {
    const reply = await repeatedly({ method: 'GET', path, isNullOn404: true }, deadline)
    return reply.status === 404 ? null : readReply(reply)
  }
  const pathOf = (id: string) => `/transfers/${encodeURIComponent(id)}`
  return {
    createAddress: async (order, deadline) => read(checks.derivedAddress, await post('/addresses', order, deadline)),
    submitTransfer: async (order) =>
      readTransfer(order.id, await once({ method: 'POST', path: '/transfers', body: order })),
    getAccountKey: (question, deadline) =>
      orNotOffered(
        find(`/xpub?${new URLSearchParams(question)}`, (reply) => read(checks.shownAccountKey, reply), deadline),
      ),
    findAuthority: () => find('/authority', (reply) => read(checks.authorityDocument, reply)),
    async cancelAuthority(votes) {
      const reply = await once({ method: 'POST', path: '/authority/cancel', body: { votes }, isNullOn404: true })
      return reply.status === 404 ? null : read(checks.authorityDocument, reply)
    },
    getTransfer: (id) => find(pathOf(id), (reply) => readTransfer(id, reply)),
    listChanges(question, stopping) {
      const deadline = AbortSignal.any([stopping, AbortSignal.timeout(question.wait * 1_000 + timeoutMilliseconds)])
      return askForChanges(question, (call) => once(call, deadline))
    },
    replaceTransaction: async (id, action, replacement) =>
      readTransfer(id, await once({ method: 'POST', path: `${pathOf(id)}/${action}`, body: replacement })),
    async stopOrders(votes) {
      await once({ method: 'POST', path: '/stops', body: { votes } })
    },
    quoteReplacement: async (id) => read(checks.replacementQuote, await get(`${pathOf(id)}/replacement`)),
    getTransaction({ network, hash }) {
      const path = `/transactions/${encodeURIComponent(hash)}?${new URLSearchParams({ network })}`
      return orNotOffered(find(path, (reply) => readTransaction(hash, reply)))
    },
    async getBalance({ network, address, contract }, deadline) {
      const query = new URLSearchParams({ network, address, ...(contract === null ? {} : { contract }) })
      return read(checks.balance, await get(`/balances?${query}`, deadline))
    },
    estimateFee: async (question, deadline) => read(checks.feeEstimate, await post('/fees', question, deadline)),
  }
}

const withoutSlash = (url: string) => url.replace(/\/+$/, '')

async function askForChanges(
  { after, wait }: ChangesQuestion,
  ask: (call: Call) => Promise<Reply>,
): Promise<Changes | 'lost' | null> {
  const query = new URLSearchParams({ limit: String(walletChangesMax), wait: String(wait) })
  if (after !== null) query.set('after', after)
  const path = `/transfers/changes?${query}`
  try {
    const reply = await ask({ method: 'GET', path, isNullOn404: true, bytesMax: walletChangesBytesMax })
    return reply.status === 404 ? null : readChanges(reply)
  } catch (error) {
    if (!(error instanceof WalletServiceError)) throw error
    if (error.status === 405 || error.status === 501) return null
    if (error.kind !== 'refused' && error.kind !== 'conflict') throw error
    // The cursor is from another service, or from before the service was restored.
    return after === null ? null : 'lost'
  }
}

/** Returns null when the wallet service has no such operation. */
async function orNotOffered<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof WalletServiceError && (error.status === 405 || error.status === 501)) return null
    throw error
  }
}

/**
 * Returns the error for the caller of our API. The text of the wallet service stays in the log: its URL is configurable, so its
 * answers must not become a way to read other services in our network.
 */
export function toBadGateway(error: WalletServiceError): AppError {
  return badGateway(isForbiddenWallet(error) ? forbiddenWallet : messages[error.kind], error)
}

/** Handles an error in a `catch`: a WalletServiceError becomes the error for the caller, any other error is thrown as it is. */
export function throwBadGateway(error: unknown): never {
  throw error instanceof WalletServiceError ? toBadGateway(error) : error
}

/** Returns the error of a forbidden URL. It names the person who can change it, because no later call can succeed before. */
export const forbiddenWallet =
  'The service may not connect to the wallet service: its address is not public, and WALLET_ALLOWED_HOSTS does not list it. ' +
  'An administrator of the vault changes walletServiceUrl; whoever operates the service changes the list.'

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

/** Returns true if a wallet service answers at all, with any status. It gets no secret. */
export async function isWalletReachable(url: string, dispatcher: Dispatcher, deadline: AbortSignal): Promise<boolean> {
  try {
    const service = { base: withoutSlash(url), secret: null, dispatcher }
    return (await exchange(service, deadline, { method: 'GET', path: '/healthz' })).status < 500
  } catch {
    return false
  }
}

type Service = { base: string; secret: string | null; dispatcher: Dispatcher }
type Call = { method: 'GET' | 'POST'; path: string; body?: object; isNullOn404?: boolean; bytesMax?: number }
type Reply = { status: number; text: string }

async function send(service: Service, deadline: AbortSignal, call: Call): Promise<Reply> {
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

/** Client errors that concern the configuration or a temporary state, but not the order. */
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
function isWorthRepeating(error: unknown): boolean {
  if (!(error instanceof WalletServiceError)) return false
  if (error.status === 501 || isForbiddenWallet(error)) return false
  return error.kind === 'unreachable' || (error.kind === 'failed' && (error.status === null || error.status >= 500))
}

function read<T>(check: Check<T>, { status, text }: Reply): T {
  const value = parse(text)
  if (check(value)) return value
  throw new WalletServiceError('invalid', 'The answer does not follow the wallet protocol', { status })
}

function readTransfer(id: string, reply: Reply): TransferStatus {
  const status = read(checks.transferStatus, reply)
  if (status.id !== undefined && status.id !== id) {
    throw new WalletServiceError('invalid', 'The answer is about another transfer', { status: reply.status })
  }
  assertPossible(status.blockTime, reply)
  return withPlainReason(status)
}

function readChanges(reply: Reply): Changes {
  const { changes, cursor } = read(checks.changes, reply)
  const statuses = new Map<string, TransferStatus>()
  let malformed = 0
  for (const change of changes) {
    if (checks.transferStatus(change) && change.id !== undefined && isPossible(change.blockTime))
      statuses.set(change.id, withPlainReason(change))
    else malformed += 1
  }
  return { statuses, malformed, cursor }
}

function readTransaction(hash: string, reply: Reply): TransactionState {
  const transaction = read(checks.transactionState, reply)
  if (txHashKey(transaction.hash) !== txHashKey(hash)) {
    throw new WalletServiceError('invalid', 'The answer is about another transaction', { status: reply.status })
  }
  assertPossible(transaction.blockTime, reply)
  return transaction
}

function assertPossible(blockTime: string | null, { status }: Reply): void {
  if (!isPossible(blockTime))
    throw new WalletServiceError('invalid', 'The answer has an impossible blockTime', { status })
}
