import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fakeAddress, fakeTxHash } from '../../server/src/testing/fake-wallet.ts'
import type { Trap } from './breakpoints.ts'

/** Network fee of every transfer that the chain accepted, in the smallest unit. */
export const walletFee = 21_000n

/** The points at which the wallet service can be paused. */
export type WalletStop =
  | 'before it takes an order'
  | 'before it answers an order'
  | 'before it answers about a transfer'

type Order = {
  id: string
  network: string
  fromAddress: string
  toAddress: string
  contractAddress: string | null
  amount: string
}
type Broadcast = { order: Order; questions: number }
/** The line that the wallet service logs when it broadcasts a transfer. */
export type LogLine = { id: string; toAddress: string; amount: string }

/**
 * A wallet service that survives every crash, with a log of its own. By the protocol an order is identified by its id:
 * a repeated id sends nothing again. It has no chain: an order is broadcast when it is accepted, and confirmed or failed
 * after some status requests.
 */
export type Wallet = {
  url: string
  log: LogLine[]
  /** The next request that reaches this point waits there until it is released. */
  stopAt(stop: WalletStop): Trap
  /** Returns the number of orders for the recipient that arrived, accepted or not. */
  ordersFor(toAddress: string): number
  close(): Promise<void>
}

export async function startWallet(): Promise<Wallet> {
  const log: LogLine[] = []
  const broadcasts = new Map<string, Broadcast>()
  const arrivals = new Map<string, number>()
  let trap: (Trap & { stop: WalletStop }) | null = null

  const pass = async (stop: WalletStop, toAddress: string | null) => {
    const set = trap
    if (set?.stop !== stop) return
    trap = null
    await new Promise<void>((resolve) => Object.assign(set, { caught: { toAddress }, release: resolve }))
  }

  const handle = async (request: IncomingMessage): Promise<[number, unknown]> => {
    const text = await bodyOf(request)
    const route = `${request.method} ${request.url}`
    if (route === 'POST /addresses') return [200, { address: fakeAddress(JSON.parse(text).derivationPath) }]
    if (route === 'POST /transfers') {
      const order = JSON.parse(text) as Order
      arrivals.set(order.toAddress, (arrivals.get(order.toAddress) ?? 0) + 1)
      await pass('before it takes an order', order.toAddress)
      if (!broadcasts.has(order.id)) {
        broadcasts.set(order.id, { order, questions: 0 })
        log.push({ id: order.id, toAddress: order.toAddress, amount: order.amount })
      }
      await pass('before it answers an order', order.toAddress)
      return [202, statusOf(broadcasts.get(order.id)!)]
    }
    const id = /^GET \/transfers\/([^/?]+)$/.exec(route)?.[1]
    if (id === undefined) return [404, { message: 'no such route' }]
    await pass('before it answers about a transfer', null)
    const broadcast = broadcasts.get(decodeURIComponent(id))
    if (broadcast === undefined) return [404, { message: 'unknown transfer' }]
    broadcast.questions += 1
    return [200, statusOf(broadcast)]
  }

  const server = createServer((request, response) => {
    void handle(request).then(
      ([status, body]) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      },
      // The node died while it was sending.
      () => request.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    stopAt(stop) {
      const set: Trap & { stop: WalletStop } = {
        stop,
        caught: null,
        release() {
          if (trap === set) trap = null
        },
      }
      trap = set
      return set
    },
    ordersFor: (toAddress) => arrivals.get(toAddress) ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The content of the order decides its outcome: some stay queued for a while, and one in five fails on the chain. */
function statusOf({ order, questions }: Broadcast) {
  const lot = Number.parseInt(order.toAddress.slice(-4), 16)
  const isQueued = lot % 2 === 0 && questions === 0
  const isOver = questions > (lot % 2 === 0 ? 1 : 0)
  const hasFailed = isOver && lot % 5 === 0
  const { derivationPath: _, coinType: __, ...echo } = order as Order & { derivationPath: string; coinType: number }
  return {
    ...echo,
    status: isQueued ? 'queued' : !isOver ? 'broadcast' : hasFailed ? 'failed' : 'confirmed',
    txHash: isQueued ? null : fakeTxHash(order.toAddress),
    fee: isOver && !hasFailed ? walletFee.toString() : null,
    feePaidBy: isOver && !hasFailed ? order.fromAddress : null,
    confirmations: isOver ? 12 : 0,
    blockTime: null,
    failureReason: hasFailed ? 'The chain refused it' : null,
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
