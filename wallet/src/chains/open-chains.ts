import type pg from 'pg'
import type { Chain } from './chain.ts'
import type { ChainConfig } from './settings.ts'

/** Opens the configured networks. The library of a family is loaded only for a network of it. */
export async function openChains(chains: Record<string, ChainConfig>, pool: pg.Pool): Promise<Map<string, Chain>> {
  const opened = new Map<string, Chain>()
  for (const [network, config] of Object.entries(chains)) opened.set(network, await openChain(network, config, pool))
  return opened
}

async function openChain(network: string, config: ChainConfig, pool: pg.Pool): Promise<Chain> {
  if ('chainId' in config) {
    const evm = await import('./evm/open-chain.ts')
    return evm.openChain(network, config)
  }
  const bitcoin = await import('./bitcoin/open-chain.ts')
  return bitcoin.openChain(network, config, pool)
}
