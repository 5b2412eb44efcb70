import { createPublicClient, defineChain, http, type PublicClient } from 'viem'
import type { ChainConfig } from '../config.ts'
import { nodeTimeoutMilliseconds, scanBlocksMax } from '../limits.ts'

/** One configured network and the client of its node. `reach` and `scan` are state of the watcher. */
export type Chain = ChainConfig & {
  network: string
  client: PublicClient
  reach: { reachable: boolean; headBlock: bigint | null }
  /** Blocks that one pass of the watcher reads; shrinks while the node refuses to return the logs of so many. */
  scan: { blocksMax: number }
}

export function openChain(network: string, config: ChainConfig): Chain {
  const chain = defineChain({
    id: config.chainId,
    name: network,
    nativeCurrency: { name: network, symbol: 'NATIVE', decimals: 18 },
    rpcUrls: { default: { http: [config.rpcUrl] } },
  })
  const client = createPublicClient({
    chain,
    // Every answer must come from the node: a cached block number would let the watcher miss a rewound chain.
    cacheTime: 0,
    transport: http(config.rpcUrl, { timeout: nodeTimeoutMilliseconds, retryCount: 1, retryDelay: 100 }),
  })
  return {
    ...config,
    network,
    client,
    reach: { reachable: false, headBlock: null },
    scan: { blocksMax: scanBlocksMax },
  }
}

/** Reads the head; throws when the node is down or serves another chain than the configured one. */
export async function readHead(chain: Chain): Promise<bigint> {
  const [chainId, headBlock] = await Promise.all([chain.client.getChainId(), chain.client.getBlockNumber()])
  if (chainId !== chain.chainId) {
    throw new Error(`the node of ${chain.network} serves chain ${chainId}, but ${chain.chainId} is configured`)
  }
  return headBlock
}
