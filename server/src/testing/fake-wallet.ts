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
export type FakeStatus = {
  id: string
  status: 'queued' | 'broadcast' | 'confirmed' | 'failed'
  txHash: string | null
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
export type FakeTransaction = {
  hash: string
  status: 'pending' | 'mined' | 'failed'
  from: string
  nonce: number
  confirmations: number
  blockTime: string | null
  fee: string | null
  payments: { index: number; toAddress: string; contractAddress: string | null; amount: string }[]
}
// biome-ignore lint/suspicious/noExplicitAny: each test knows the type of what it sent.
export type FakeRequest = { method: string; path: string; headers: IncomingHttpHeaders; body: any }

type FakeVersion = { authority: { keys: { id: string; person: string }[] }; version: number; hash: string }

export type FakeWallet = {
  url: string
  secret: string
  /** Every request in the order of arrival. */
  requests: FakeRequest[]
  /** 'error' answers 500; 'refused' answers nothing and closes the connection. */
  down: false | 'error' | 'refused'
  delayMilliseconds: number
  /** Orders are recorded, and never answered. */
  swallow: boolean
  /** Set: orders are answered with 400 and this message, and not recorded. */
  refuse: string | null
  /** What POST /stops answers in place of taking them. */
  refuseStops: [number, object] | null
  /** What GET /authority answers; null: a 404. */
  authority: (FakeVersion & { pending?: (FakeVersion & { inForceAt: string }) | null }) | null
  /** Set: POST /authority/cancel is a 403 with these details. */
  refuseCancellation: string | null
  /** Hashes of versions that were cancelled; their votes are taken again. */
  cancelled: Set<string>
  /** Set: orders are a 403 with these details, and not recorded. */
  refuseAuthorization: string | null
  /** Replaces what POST /addresses answers, or a promise of it; null: the honest address. */
  answerWithAddress: ((derivationPath: string) => unknown) | null
  /** Set: it shows the public keys of its accounts, and its addresses follow from them; what it answers may be changed. */
  keys: FakeKeys | null
  /** Changes what GET /transfers/{id} answers. */
  mutateStatus: ((id: string, status: FakeStatus) => unknown) | null
  /** What GET /balances answers, by lower-case address and contract ('' for the coin); "0" when nothing is set. */
  balances: Map<string, string>
  /** What POST /fees answers, in the smallest unit of the coin; null: it says no fees, so that no order is refused for them. */
  fee: string | null
  /** Set: replacements are a 409 with these details; 'unsupported': a 404. */
  refuseReplacement: string | null
  /** What a replacement costs; one that may not pay as much is a 409. null: nothing. */
  replacementCost: string | null
  /** What GET /transactions/{hash} answers, by hash; null: the service does not offer it. */
  transactions: Map<string, FakeTransaction> | null
  /** Puts a transaction on the chain: mined and final, unless told otherwise. */
  mine(transaction: Pick<FakeTransaction, 'hash' | 'from' | 'payments'> & Partial<FakeTransaction>): void
  transfer(id: string): FakeStatus | null
  transfers(): FakeStatus[]
  /** How many times an order with this id was accepted as new: what would be broadcasts. */
  broadcastCount(id: string): number
  broadcast(id: string, options?: { txHash?: string }): void
  confirm(id: string, options?: { fee?: string; txHash?: string }): void
  fail(id: string, reason: string, fee?: string): void
  /** The wallet has lost the order: GET /transfers/{id} answers 404 from now on. */
  forget(id: string): void
  remember(id: string, status: FakeStatus): void
  /** Refuses connections while the work runs, as a service that is stopped does. */
  whileStopped(work: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

/**
 * A wallet service in memory, on loopback: the protocol of contract 17. Its keys are the hash of its secret
 * and the path, so the same path always has the same address. It broadcasts nothing by itself: tests decide what happens.
 */
export async function startFakeWallet({ secret = newSecret() }: { secret?: string } = {}): Promise<FakeWallet> {
  const orders = new Map<string, { body: string; status: FakeStatus }>()
  const accepted = new Map<string, number>()
  const server = createServer((request, response) => {
    void (async () => {
      const text = await bodyOf(request)
      const url = new URL(request.url ?? '/', 'http://wallet')
      // It serves below any path of its base URL.
      url.pathname = url.pathname.replace(/^\/.+(?=\/(addresses|transfers|balances|fees|xpub)(\/|$))/, '')
      const body: unknown = text === '' ? null : JSON.parse(text)
      if (url.pathname !== '/xpub' || wallet.keys !== null)
        wallet.requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
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
      const { derivationPath } = body as { derivationPath: string }
      const { answerWithAddress } = wallet
      return [200, { address: await (answerWithAddress ?? honestAddress)(derivationPath) }]
    }
    if (route === 'GET /xpub' && wallet.keys !== null) {
      const given = (name: string) => url.searchParams.get(name) ?? ''
      return [200, wallet.keys.show(given('network'), given('derivationPath'), given('challenge'))]
    }
    if (route === 'GET /authority')
      return wallet.authority === null ? [404, { message: 'no authority' }] : [200, wallet.authority]
    if (route === 'POST /authority/cancel') return cancelAuthority(body)
    if (route === 'POST /stops') return wallet.refuseStops ?? [200, { stopped: [] }]
    if (route === 'POST /transfers') return submit(body as Order)
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
    return [202, status]
  }

  /** Why a replacement is impossible that may cost no more than this; the limit of the order unless it names another. */
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
    mutateStatus: null,
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

/** The transaction hash that the fake wallet gives a transfer unless the test names one. */
export function fakeTxHash(seed: string): string {
  return `0x${sha256(seed).toString('hex')}`
}

/** An EVM address in EIP-55 form that depends on the seed only. */
export function fakeAddress(seed: string): string {
  return parseOnchainAddress(`0x${sha256(seed).toString('hex').slice(0, 40)}`, 'evm')!.address
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
