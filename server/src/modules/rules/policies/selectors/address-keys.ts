import { type NetworkType, parseOnchainAddress } from '../../../../lib/onchain-address.ts'

/** Checksums require hashing, and the addresses in policies are parsed for every decision, so keys are cached. */
const keysMax = 20_000
const known = new Map<NetworkType, Map<string, string | null>>()

/** The key by which a network compares an address (see `parseOnchainAddress`); null if it is not an address of the network. */
export function addressKeyOf(text: string, type: NetworkType): string | null {
  let keys = known.get(type)
  if (keys === undefined || keys.size >= keysMax) {
    keys = new Map()
    known.set(type, keys)
  }
  let key = keys.get(text)
  if (key === undefined) {
    key = parseOnchainAddress(text, type)?.key ?? null
    keys.set(text, key)
  }
  return key
}

/**
 * The key of an address of an unknown network, or of an id that stands for one. Only EVM and Bitcoin have
 * several spellings of one address, and no text is an address of both.
 */
export function spellingKey(text: string): string {
  return addressKeyOf(text, 'evm') ?? addressKeyOf(text, 'bitcoin') ?? text
}
