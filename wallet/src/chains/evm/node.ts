import {
  type Address,
  createPublicClient,
  defineChain,
  type Hex,
  http,
  type PublicClient,
  type Chain as ViemChain,
  webSocket,
} from 'viem'
import { nodeBatchMax, nodeTimeoutMilliseconds, scanBlocksMax } from '../../limits.ts'
import type { EvmConfig } from '../settings.ts'
import type { KnownBlock } from './block.ts'
import type { GasPrice } from './fee-caps.ts'

/** A moment of the database's clock, and a nonce below which all transfers of an address had ended by then. */
export type Opening = { asOf: Date; nonce: bigint }

/** The state of an address that all its transfers share. It was read after `opening`. */
export type Account = { balance: bigint; chainNonce: number; opening: Opening }

/** The newest block, with the fees and accounts that were read at it. They hold while the node names the same block. */
export type Market = { hash: Hex; readAt: number; price: GasPrice; accounts: Map<Address, Account> }

/** One configured network and the client of its node. `reach`, `scan`, `known` and `beforeStart` are state of the follower. */
export type Node = EvmConfig & {
  network: string
  client: PublicClient
  /** Sends simultaneous calls in one request. */
  batched: PublicClient
  reach: { reachable: boolean; headBlock: bigint | null }
  /**
   * `blocksMax`: blocks that one pass of the watcher reads; it shrinks while the node refuses to return the logs of so many.
   * `hasBlockReceipts`: the node gives the receipts of a block in one answer.
   */
  scan: { blocksMax: number; hasBlockReceipts: boolean }
  /** The newest blocks that were read, by number. */
  known: Map<bigint, KnownBlock>
  /** Blocks below those that were followed since the start, for deposits only. */
  beforeStart: Map<bigint, KnownBlock>
  /** The state that was read at the newest block. */
  market: Market | null
  /** The gas that recent transfers of each token needed. */
  tokenGas: Map<Address, { gas: bigint; until: number }>
  /** The running estimates of gas, by token. */
  tokenAsked: Map<Address, Promise<void>>
  /** Closes the connection, if the node is reached by a WebSocket; the next call opens another one. */
  close(): Promise<void>
}

export const isSocket = (rpcUrl: string) => /^wss?:/i.test(rpcUrl)

export function openNode(network: string, config: EvmConfig): Node {
  const chain = defineChain({
    id: config.chainId,
    name: network,
    nativeCurrency: { name: network, symbol: 'NATIVE', decimals: 18 },
    rpcUrls: { default: { http: [config.rpcUrl] } },
  })
  const calls = { timeout: nodeTimeoutMilliseconds, retryCount: 1, retryDelay: 100 }
  // Every answer must come from the node: a cached block number would let the watcher miss a rewound chain.
  const fresh = { chain, cacheTime: 0 }
  return {
    ...config,
    network,
    ...(isSocket(config.rpcUrl) ? openSocket(fresh, config.rpcUrl, calls) : openHttp(fresh, config.rpcUrl, calls)),
    reach: { reachable: false, headBlock: null },
    scan: { blocksMax: scanBlocksMax, hasBlockReceipts: true },
    known: new Map(),
    beforeStart: new Map(),
    market: null,
    tokenGas: new Map(),
    tokenAsked: new Map(),
  }
}

type Fresh = { chain: ViemChain; cacheTime: number }
type Calls = { timeout: number; retryCount: number; retryDelay: number }
type Clients = Pick<Node, 'client' | 'batched' | 'close'>

function openHttp(fresh: Fresh, rpcUrl: string, calls: Calls): Clients {
  const open = (batch: false | { batchSize: number }) =>
    createPublicClient({ ...fresh, transport: http(rpcUrl, { ...calls, batch }) })
  return { client: open(false), batched: open({ batchSize: nodeBatchMax }), close: async () => undefined }
}

/** Calls over a connection need no batches. The client would stop reconnecting after some attempts, so the follower reconnects. */
function openSocket(fresh: Fresh, rpcUrl: string, calls: Calls): Clients {
  const client = createPublicClient({ ...fresh, transport: webSocket(rpcUrl, { ...calls, reconnect: false }) })
  const close = () =>
    client.transport.getRpcClient().then(
      (socket) => socket.close(),
      () => undefined,
    )
  return { client, batched: client, close }
}

/** Reads the height, and after an outage first which chain the node serves; throws as `readHead`. */
export async function readHeight(chain: Node): Promise<bigint> {
  return chain.reach.reachable ? await chain.client.getBlockNumber() : await readHead(chain)
}

/** Reads the head; throws when the node is down or serves another chain than the configured one. */
export async function readHead(chain: Node): Promise<bigint> {
  const [chainId, headBlock] = await Promise.all([chain.client.getChainId(), chain.client.getBlockNumber()])
  if (chainId !== chain.chainId) {
    throw new Error(`the node of ${chain.network} serves chain ${chainId}, but ${chain.chainId} is configured`)
  }
  return headBlock
}
