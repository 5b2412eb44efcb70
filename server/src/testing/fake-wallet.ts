import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseOnchainAddress } from '../lib/onchain-address.ts'
import { newSecret, sha256 } from '../lib/secrets.ts'
import type { FakeKeys } from './fake-account-keys.ts'

type Order = {
  id: string
  network: string
  coinType: number
  derivationPath: string
  fromAddress: string
  toAddress: string
  contractAddress: string | null
  amount: string
  maxFee?: string
  authorization?: object
}
type FakeStatus = {
  id: string
  status: 'queued' | 'broadcast' | 'confirmed' | 'failed'
  txHash: string | null
  index?: number | null
  fee: string | null
  feePaidBy: string | null
  confirmations: number
  blockTime: string | null
  failureReason: string | null
  network: string
  fromAddress: string
  toAddress: string
  contractAddress: string | null
  amount: string
  replacedBy?: { hash: string }
}
type Replacement = { txHash: string | null; maxFee?: string }
type FakeTransaction = {
  hash: string
  status: 'pending' | 'mined' | 'failed'
  from: string | null
  nonce: number | null
  confirmations: number
  blockTime: string | null
  fee: string | null
  payments: { index: number; toAddress: string; contractAddress: string | null; amount: string }[]
  spent?: { txHash: string; index: number; address: string | null; amount: string }[]
}
// biome-ignore lint/suspicious/noExplicitAny: each test knows the type of what it sent.
type FakeRequest = { method: string; path: string; headers: IncomingHttpHeaders; body: any }

type FakeVersion = { authority: { keys: { id: string; person: string }[] }; version: number; hash: string }

export type FakeEntry =
  | { kind: 'transfer'; id: string }
  | { kind: 'address'; network: string; derivationPath: string; address: string }
  | {
      kind: 'event'
      id: string
      network: string
      asset: string | null
      toAddress: string
      txHash: string
      index: number
      occurrence: number
      isOrphan: boolean
    }
  | {
      kind: 'transaction'
      network: string
      txHash: string
      fromAddress: string
      fee: string
      payments: { toAddress: string; contractAddress: string | null; amount: string }[]
    }

export type FakeWallet = {
  url: string
  secret: string
  /** The entries of GET /accepted in their order; null when the service does not offer the list. A test may restore an earlier one. */
  accepted: FakeEntry[] | null
  /** The name of its database in the answers of GET /accepted; null to name none. */
  database: string | null
  /** Every request in the order of arrival. */
  requests: FakeRequest[]
  /** 'error' answers 500; 'refused' answers nothing and closes the connection. */
  down: false | 'error' | 'refused'
  delayMilliseconds: number
  /** True to record orders and never answer them. */
  swallow: boolean
  /** Set to answer orders with 400 and this message, and not to record them. */
  refuse: string | null
  /** The answer of POST /stops that replaces the normal one. */
  refuseStops: [number, object] | null
  /** The answer of GET /authority; null for a 404. */
  authority: (FakeVersion & { pending?: (FakeVersion & { inForceAt: string }) | null }) | null
  /** Set to answer POST /authority/cancel with 403 and these details. */
  refuseCancellation: string | null
  /** The hashes of cancelled versions. Their votes are accepted again. */
  cancelled: Set<string>
  /** Set to answer orders with 403 and these details, and not to record them. */
  refuseAuthorization: string | null
  /** Returns the answer of POST /addresses, or a promise of it; null for the honest address. */
  answerWithAddress: ((derivationPath: string) => unknown) | null
  /** Set to show the public keys of its accounts, from which its addresses then follow. A test may change the shown keys. */
  keys: FakeKeys | null
  /** Returns the status with which GET /xpub fails for a network, `silence` for no answer, or null for the normal answer. */
  answerKeysWith: ((network: string) => number | 'silence' | null) | null
  /** Changes the answer of GET /transfers/{id}. */
  mutateStatus: ((id: string, status: FakeStatus) => unknown) | null
  /** True if it offers GET /transfers?ids. */
  offersStates: boolean
  /** The answers of GET /balances, by lower-case address and contract ('' for the coin); "0" for a missing entry. */
  balances: Map<string, string>
  /** The answer of POST /fees, in the smallest unit of the coin; null to return no fees, so that no order is refused for them. */
  fee: string | null
  /** Set to answer replacements with 409 and these details; 'unsupported' for a 404. */
  refuseReplacement: string | null
  /** The cost of a replacement. A replacement with a lower limit is refused with 409. Null for no cost. */
  replacementCost: string | null
  /** The answers of GET /transactions/{hash}, by hash; null when the service does not offer the lookup. */
  transactions: Map<string, FakeTransaction> | null
  /** Puts a transaction on the chain: mined and final by default. */
  mine(transaction: Pick<FakeTransaction, 'hash' | 'from' | 'payments'> & Partial<FakeTransaction>): void
  transfer(id: string): FakeStatus | null
  transfers(): FakeStatus[]
  /** Returns the number of times that an order with this id was accepted as new, which stands for broadcasts. */
  broadcastCount(id: string): number
  broadcast(id: string, options?: { txHash?: string }): void
  confirm(id: string, options?: { fee?: string; txHash?: string }): void
  fail(id: string, reason: string, fee?: string): void
  /** Loses the order: GET /transfers/{id} answers 404 from now on. */
  forget(id: string): void
  remember(id: string, status: FakeStatus): void
  /** Refuses connections while the work runs, like a stopped service. */
  whileStopped(work: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a wallet service in memory, on loopback: the protocol of contract 17. Its keys are the hash of its secret and the
 * path, so that the same path always has the same address. It broadcasts nothing by itself: tests decide the results.
 */
export async function startFakeWallet({ secret = newSecret() }: { secret?: string } = {}): Promise<FakeWallet> {
  const orders = new Map<string, { body: string; status: FakeStatus }>()
  const accepted = new Map<string, number>()
  const server = createServer((request, response) => {
    void (async () => {
      const text = await bodyOf(request)
      const url = new URL(request.url ?? '/', 'http://wallet')
      // The wallet serves below any path of its base URL.
      url.pathname = url.pathname.replace(/^\/.+(?=\/(accepted|addresses|transfers|balances|fees|xpub)(\/|$))/, '')
      const body: unknown = text === '' ? null : JSON.parse(text)
      const isQuiet = (url.pathname === '/xpub' && wallet.keys === null) || url.pathname === '/accepted'
      if (!isQuiet)
        wallet.requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
      if (url.pathname === '/accepted' && wallet.accepted === null) return response.writeHead(404).end()
      if (wallet.down === 'refused') return request.socket.destroy()
      if (wallet.delayMilliseconds > 0) await new Promise((resolve) => setTimeout(resolve, wallet.delayMilliseconds))
      const answer = wallet.down === 'error' ? [500, { message: 'down' }] : await handle(request, url, body)
      if (wallet.swallow && request.method === 'POST' && url.pathname === '/transfers') return
      response.writeHead(answer[0] as number, { 'content-type': 'application/json' }).end(JSON.stringify(answer[1]))
    })()
  })

  const cancelAuthority = (body: unknown): [number, unknown] => {
    const [{ vote }] = (body as { votes: [{ vote: { hash: string } }] }).votes
    if (wallet.cancelled.has(vote.hash)) return [200, wallet.authority]
    if (!wallet.authority?.pending) return [404, { message: 'none waits' }]
    if (wallet.refuseCancellation !== null) return [403, { message: 'no', details: wallet.refuseCancellation }]
    wallet.cancelled.add(wallet.authority.pending.hash)
    wallet.authority = { ...wallet.authority, pending: null }
    return [200, wallet.authority]
  }

  const handle = async (request: IncomingMessage, url: URL, body: unknown): Promise<[number, unknown]> => {
    if (request.headers.authorization !== `Bearer ${secret}`) return [401, { message: 'wrong secret' }]
    const route = `${request.method} ${url.pathname}`
    if (route === 'POST /addresses') {
      const { network, derivationPath } = body as { network: string; derivationPath: string }
      const { answerWithAddress } = wallet
      accept({ network, derivationPath })
      return [200, { address: await (answerWithAddress ?? honestAddress)(derivationPath) }]
    }
    if (route === 'GET /xpub' && wallet.keys !== null) {
      const parameter = (name: string) => url.searchParams.get(name) ?? ''
      const failure = wallet.answerKeysWith?.(parameter('network')) ?? null
      if (failure === 'silence') return new Promise(() => {})
      if (failure !== null) return [failure, { message: 'no keys' }]
      return [200, wallet.keys.show(parameter('network'), parameter('derivationPath'), parameter('challenge'))]
    }
    if (route === 'GET /accepted') return listAccepted(url.searchParams.get('after'))
    if (route === 'GET /authority')
      return wallet.authority === null ? [404, { message: 'no authority' }] : [200, wallet.authority]
    if (route === 'POST /authority/cancel') return cancelAuthority(body)
    if (route === 'POST /stops') return wallet.refuseStops ?? [200, { stopped: [] }]
    if (route === 'POST /transfers') return submit(body as Order)
    if (route === 'GET /transfers' && wallet.offersStates) {
      const known = (url.searchParams.get('ids') ?? '').split(',').flatMap((id) => orders.get(id)?.status ?? [])
      const shown = (status: FakeStatus) =>
        wallet.mutateStatus === null ? status : wallet.mutateStatus(status.id, { ...status })
      return [200, { transfers: known.map(shown) }]
    }
    if (route.startsWith('GET /transfers/')) {
      const [name = '', part] = url.pathname.slice('/transfers/'.length).split('/')
      const id = decodeURIComponent(name)
      if (part === 'replacement') return quoteReplacement(id)
      const order = orders.get(id)
      if (order === undefined) return [404, { message: 'unknown transfer' }]
      return [200, wallet.mutateStatus === null ? order.status : wallet.mutateStatus(id, { ...order.status })]
    }
    const replaced = /^\/transfers\/([^/]+)\/(speed-up|cancel-on-chain)$/.exec(url.pathname)
    if (replaced !== null) return replace(decodeURIComponent(replaced[1]!), body as Replacement)
    if (route.startsWith('GET /transactions/')) {
      if (wallet.transactions === null) return [501, { message: 'not offered' }]
      const found = wallet.transactions.get(decodeURIComponent(url.pathname.slice('/transactions/'.length)))
      return found === undefined ? [404, { message: 'unknown transaction' }] : [200, found]
    }
    if (route === 'GET /balances') {
      const key = `${url.searchParams.get('address')} ${url.searchParams.get('contract') ?? ''}`.toLowerCase()
      return [200, { balance: wallet.balances.get(key.trim()) ?? '0', blockNumber: 1 }]
    }
    if (route === 'POST /fees') {
      return wallet.fee === null ? [501, { message: 'no fees' }] : [200, { fee: wallet.fee, asset: 'native' }]
    }
    return [404, { message: 'no such route' }]
  }

  const honestAddress = (derivationPath: string) =>
    wallet.keys === null ? fakeAddress(secret + derivationPath) : wallet.keys.address(derivationPath)

  const listAccepted = (after: string | null): [number, unknown] => {
    const entries = wallet.accepted ?? []
    const cursorAt = (n: number) => `${n}-${sha256(JSON.stringify(entries.slice(0, n))).toString('hex')}`
    const place = after === null ? 0 : Number(after.split('-')[0])
    if (after !== null && after !== cursorAt(place)) return [410, { message: 'lost', details: 'CURSOR_LOST: restored' }]
    const page = entries.slice(place, place + 1_000)
    const database = wallet.database === null ? {} : { database: wallet.database }
    return [200, { entries: page, count: entries.length, cursor: cursorAt(place + page.length), ...database }]
  }

  /** Lists an address once, even if it is requested several times. */
  const accept = ({ network, derivationPath }: { network: string; derivationPath: string }) => {
    const isKnown = wallet.accepted?.some(
      (entry) => entry.kind === 'address' && entry.network === network && entry.derivationPath === derivationPath,
    )
    if (isKnown === false)
      wallet.accepted?.push({ kind: 'address', network, derivationPath, address: honestAddress(derivationPath) })
  }

  const submit = (order: Order): [number, unknown] => {
    const known = orders.get(order.id)
    if (known !== undefined && known.body !== JSON.stringify(order)) return [409, { message: 'another order' }]
    if (known !== undefined) return [202, known.status]
    if (wallet.refuseAuthorization !== null)
      return [403, { message: 'not authorized', details: wallet.refuseAuthorization }]
    if (wallet.refuse !== null) return [400, { message: wallet.refuse }]
    const { derivationPath: _, coinType: __, authorization: ___, ...echo } = order
    const status: FakeStatus = {
      ...echo,
      status: 'queued',
      txHash: null,
      fee: null,
      feePaidBy: null,
      confirmations: 0,
      blockTime: null,
      failureReason: null,
    }
    orders.set(order.id, { body: JSON.stringify(order), status })
    accepted.set(order.id, (accepted.get(order.id) ?? 0) + 1)
    wallet.accepted?.push({ kind: 'transfer', id: order.id })
    return [202, status]
  }

  /** Returns the reason against a replacement with this limit, or null. The default is the limit of the order. */
  const refusalOf = (id: string, named?: string): string | null => {
    const { replacementCost: cost, refuseReplacement } = wallet
    const limit = named ?? (JSON.parse(orders.get(id)!.body) as Order).maxFee
    const isAbove = cost !== null && limit !== undefined && BigInt(cost) > BigInt(limit)
    return refuseReplacement ?? (isAbove ? `ABOVE_MAX_FEE: it costs ${cost}` : null)
  }

  const replace = (id: string, { txHash, maxFee }: Replacement): [number, unknown] => {
    const order = orders.get(id)
    const refusal = order === undefined ? null : refusalOf(id, maxFee)
    if (order === undefined || refusal === 'unsupported') return [404, { message: 'unknown transfer' }]
    if (refusal !== null) return [409, { message: 'impossible', details: refusal }]
    const { status } = order
    if (status.txHash === txHash)
      Object.assign(status, { status: 'broadcast', txHash: fakeTxHash(`${txHash} replaced`) })
    return [202, status]
  }

  const quoteReplacement = (id: string): [number, unknown] => {
    const refusal = orders.has(id) ? refusalOf(id) : null
    if (!orders.has(id) || refusal === 'unsupported') return [404, { message: 'unknown transfer' }]
    const maxFee = wallet.replacementCost ?? '47250000000000'
    const cost = refusal === null ? { maxFee } : { refusal, ...(refusal.startsWith('ABOVE') ? { maxFee } : {}) }
    return [200, { txHash: orders.get(id)!.status.txHash, speedUp: cost, cancelOnChain: cost }]
  }

  const statusOf = (id: string): FakeStatus => {
    const order = orders.get(id)
    if (order === undefined) throw new Error(`The fake wallet has no transfer ${id}`)
    return order.status
  }

  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })

  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  // A test that forgets to close the wallet must not hang its process.
  server.unref()

  const wallet: FakeWallet = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secret,
    accepted: null,
    database: null,
    requests: [],
    down: false,
    delayMilliseconds: 0,
    swallow: false,
    refuse: null,
    authority: null,
    refuseCancellation: null,
    cancelled: new Set(),
    refuseStops: null,
    refuseAuthorization: null,
    answerWithAddress: null,
    keys: null,
    answerKeysWith: null,
    mutateStatus: null,
    offersStates: false,
    balances: new Map(),
    fee: null,
    refuseReplacement: null,
    replacementCost: null,
    transactions: new Map(),
    mine(transaction) {
      const final = {
        status: 'mined',
        nonce: 0,
        confirmations: 12,
        blockTime: '2026-01-31T09:30:00.000Z',
        fee: '21000',
      }
      wallet.transactions?.set(transaction.hash, { ...final, ...transaction } as FakeTransaction)
    },
    transfer: (id) => orders.get(id)?.status ?? null,
    transfers: () => [...orders.values()].map(({ status }) => status),
    broadcastCount: (id) => accepted.get(id) ?? 0,
    broadcast(id, { txHash = fakeTxHash(id) } = {}) {
      Object.assign(statusOf(id), { status: 'broadcast', txHash })
    },
    confirm(id, { fee = '21000', txHash = statusOf(id).txHash ?? fakeTxHash(id) } = {}) {
      Object.assign(statusOf(id), {
        status: 'confirmed',
        txHash,
        fee,
        feePaidBy: statusOf(id).fromAddress,
        confirmations: 12,
        blockTime: new Date().toISOString(),
      })
    },
    fail(id, reason, fee) {
      const paid = fee === undefined ? {} : { fee, feePaidBy: statusOf(id).fromAddress }
      Object.assign(statusOf(id), { status: 'failed', failureReason: reason, ...paid })
    },
    forget: (id) => {
      orders.delete(id)
    },
    remember: (id, status) => {
      orders.set(id, { body: '', status })
    },
    async whileStopped(work) {
      const { port } = server.address() as AddressInfo
      await stop()
      try {
        await work()
      } finally {
        server.listen(port, '127.0.0.1')
        await new Promise((resolve) => server.once('listening', resolve))
      }
    },
    close: stop,
  }
  return wallet
}

/** Returns the transaction hash that the fake wallet gives a transfer unless the test names one. */
export function fakeTxHash(seed: string): string {
  return `0x${sha256(seed).toString('hex')}`
}

/** Returns an EVM address in EIP-55 form that depends only on the seed. */
export function fakeAddress(seed: string): string {
  return parseOnchainAddress(`0x${sha256(seed).toString('hex').slice(0, 40)}`, 'evm')!.address
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
