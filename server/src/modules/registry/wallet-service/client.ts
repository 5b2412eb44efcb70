import type { Dispatcher } from 'undici'
import type { FeeLevel } from '../../../lib/fee-levels.ts'
import {
  walletAuthorityBytesMax,
  walletCallTimeoutMilliseconds,
  walletChangesBytesMax,
  walletChangesMax,
  walletReadAttemptsMax,
} from '../../../lib/limits.ts'
import { txHashKey } from '../../../lib/onchain-address.ts'
import {
  type Accepted,
  type AuthorityDocument,
  checks,
  type ReplacementQuote,
  type ShownAccountKey,
  type TransactionState,
  type TransferStatus,
} from './answers.ts'
import {
  type Call,
  isWorthRepeating,
  plainText,
  type Reply,
  read,
  send,
  WalletServiceError,
  withoutSlash,
} from './call.ts'

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
/** The fields of a replacement: the newest transaction that the caller knows, and a maximum fee in place of that of the order. */
export type Replacement = { txHash: string | null; maxFee?: string }
export type ReplacementAction = 'speed-up' | 'cancel-on-chain'
export type FeeQuestion = Omit<TransferOrder, 'id' | 'coinType' | 'derivationPath' | 'maxFee' | 'authorization'>
export type ChangesQuestion = { after: string | null; wait: number }
/** The newest reported status of each transfer, in the order in which they came, and the number of malformed entries. */
export type Changes = { statuses: Map<string, TransferStatus>; malformed: number; cursor: string }
/** A request for the key of an account. The wallet service signs its answer together with the challenge. */
type AccountKeyQuestion = { network: string; derivationPath: string; challenge: string }
type BalanceQuestion = { network: string; address: string; contract: string | null }

export type WalletClient = {
  /** Creates an address. It is idempotent by derivation path. The answer is not yet checked against the network. */
  createAddress(order: AddressOrder, deadline?: AbortSignal): Promise<{ address: string }>
  /** Submits a transfer. The call is idempotent by id. It is sent once; the caller decides if it is repeated. */
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
   * Returns the statuses of transfers, by id. Returns null when not offered (404, 405, 501). A transfer that is missing in the
   * answer, or whose entry is malformed, may still exist: ask for it with `getTransfer`.
   */
  listTransfers(ids: string[]): Promise<Map<string, TransferStatus> | null>
  /**
   * Waits for changes after the cursor of an earlier answer. Returns null when not offered (404, 405, 501), 'lost' for an
   * unknown cursor.
   */
  listChanges(question: ChangesQuestion, stopping: AbortSignal): Promise<Changes | 'lost' | null>
  /**
   * Lists transfers, addresses and events that the service accepted after the cursor of an earlier answer. Returns null when not
   * offered (404, 405, 501), 'lost' for a cursor of entries that the service does not have.
   */
  listAccepted(after: string | null, deadline?: AbortSignal): Promise<Accepted | 'lost' | null>
  /** Requests events again that were delivered before. Returns the number of events that the service will send; null when not offered. */
  replayEvents(ids: string[]): Promise<number | null>
  /** Replaces a transaction. It is idempotent by the replaced transaction, and sent once. */
  replaceTransaction(id: string, action: ReplacementAction, replacement: Replacement): Promise<TransferStatus>
  /** Sends signed vetoes and cancellations to the service, which then never signs those orders. A repetition changes nothing. */
  stopOrders(votes: object[]): Promise<void>
  /** Returns the present maximum cost of a replacement, or the reason for which it would be refused. */
  quoteReplacement(id: string): Promise<ReplacementQuote>
  /**
   * Returns a transaction. Returns null when the chain does not know it or the lookup is not offered (404, 405, 501): null does not
   * prove that the transaction does not exist.
   */
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
 * Creates the client of one wallet service (contract 17). It follows no redirects, reads bounded answers and accepts only answers
 * that match the protocol. All methods throw WalletServiceError.
 *
 * tidy: long because it lists the operations of the protocol.
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
  async function find<T>(
    path: string,
    readReply: (reply: Reply) => T,
    deadline?: AbortSignal,
    limits: Pick<Call, 'bytesMax'> = {},
  ): Promise<T | null> {
    const reply = await repeatedly({ method: 'GET', path, isNullOn404: true, ...limits }, deadline)
    return reply.status === 404 ? null : readReply(reply)
  }
  const ofAuthority = { bytesMax: walletAuthorityBytesMax }
  const pathOf = (id: string) => `/transfers/${encodeURIComponent(id)}`
  return {
    createAddress: async (order, deadline) => read(checks.derivedAddress, await post('/addresses', order, deadline)),
    submitTransfer: async (order) =>
      readTransfer(order.id, await once({ method: 'POST', path: '/transfers', body: order })),
    getAccountKey: (question, deadline) =>
      orNotOffered(
        find(`/xpub?${new URLSearchParams(question)}`, (reply) => read(checks.shownAccountKey, reply), deadline),
      ),
    findAuthority: () => find('/authority', (reply) => read(checks.authorityDocument, reply), undefined, ofAuthority),
    async cancelAuthority(votes) {
      const call = { method: 'POST', path: '/authority/cancel', body: { votes }, isNullOn404: true } as const
      const reply = await once({ ...call, ...ofAuthority })
      return reply.status === 404 ? null : read(checks.authorityDocument, reply)
    },
    getTransfer: (id) => find(pathOf(id), (reply) => readTransfer(id, reply)),
    listTransfers: (ids) => orNotOffered(askForTransfers(ids, repeatedly)),
    listChanges(question, stopping) {
      const deadline = AbortSignal.any([stopping, AbortSignal.timeout(question.wait * 1_000 + timeoutMilliseconds)])
      return askForChanges(question, (call) => once(call, deadline))
    },
    listAccepted: (after, deadline) => orNotOffered(askForAccepted(after, (call) => repeatedly(call, deadline))),
    replayEvents: (ids) =>
      orNotOffered(
        (async () => {
          const reply = await once({ method: 'POST', path: '/events/replay', body: { ids }, isNullOn404: true })
          return reply.status === 404 ? null : read(checks.replayedEvents, reply).replayed
        })(),
      ),
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

async function askForTransfers(
  ids: string[],
  ask: (call: Call) => Promise<Reply>,
): Promise<Map<string, TransferStatus> | null> {
  const path = `/transfers?${new URLSearchParams({ ids: ids.join() })}`
  const reply = await ask({ method: 'GET', path, isNullOn404: true, bytesMax: walletChangesBytesMax })
  if (reply.status === 404) return null
  const { statuses } = readStatuses(read(checks.transferStates, reply).transfers)
  return new Map(ids.flatMap((id) => (statuses.has(id) ? [[id, statuses.get(id)!] as const] : [])))
}

async function askForAccepted(
  after: string | null,
  ask: (call: Call) => Promise<Reply>,
): Promise<Accepted | 'lost' | null> {
  const query = new URLSearchParams({ limit: String(walletChangesMax), ...(after === null ? {} : { after }) })
  const call = {
    method: 'GET',
    path: `/accepted?${query}`,
    isNullOn404: true,
    bytesMax: walletChangesBytesMax,
  } as const
  try {
    const reply = await ask(call)
    return reply.status === 404 ? null : read(checks.accepted, reply)
  } catch (error) {
    // The cursor is from another service, or from a database that the service no longer has.
    const isLost = error instanceof WalletServiceError && (error.status === 410 || error.status === 400)
    if (isLost && after !== null) return 'lost'
    throw error
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
  return { ...readStatuses(changes), cursor }
}

function readStatuses(entries: unknown[]): Pick<Changes, 'statuses' | 'malformed'> {
  const statuses = new Map<string, TransferStatus>()
  let malformed = 0
  for (const entry of entries) {
    if (checks.transferStatus(entry) && entry.id !== undefined && isPossible(entry.blockTime))
      statuses.set(entry.id, withPlainReason(entry))
    else malformed += 1
  }
  return { statuses, malformed }
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

const withPlainReason = (status: TransferStatus): TransferStatus => ({
  ...status,
  failureReason: status.failureReason === null ? null : plainText(status.failureReason),
})

const isPossible = (blockTime: string | null): boolean => blockTime === null || !Number.isNaN(Date.parse(blockTime))
