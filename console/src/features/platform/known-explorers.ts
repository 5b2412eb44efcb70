import type { Network } from '@strongroom/sdk'

type Links = { explorerTxUrl: string; explorerAddressUrl: string }

/** Block explorers of the main networks, by coin type. Nothing calls them until a person saves and follows a link. */
const known: Record<number, string> = {
  0: 'https://mempool.space',
  2: 'https://litecoinspace.org',
  60: 'https://etherscan.io',
  501: 'https://solscan.io',
}

/** Returns the links that most people use for a network; null if none are known. */
export function knownLinks({ coinType, type }: Pick<Network, 'coinType' | 'type'>): Links | null {
  const origin = known[coinType]
  if (origin === undefined) return null
  const address = type === 'solana' ? 'account' : 'address'
  return { explorerTxUrl: `${origin}/tx/{hash}`, explorerAddressUrl: `${origin}/${address}/{address}` }
}
