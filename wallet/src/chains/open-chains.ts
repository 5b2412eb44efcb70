import type { ChainConfig } from '../config.ts'
import type { Chain } from './chain.ts'

/** Opens the configured networks. The library of a family is loaded only for a network of it. */
export async function openChains(chains: Record<string, ChainConfig>): Promise<Map<string, Chain>> {
  const opened = new Map<string, Chain>()
  for (const [network, config] of Object.entries(chains)) {
    const { openChain } = await import('./evm/open-chain.ts')
    opened.set(network, openChain(network, config))
  }
  return opened
}
