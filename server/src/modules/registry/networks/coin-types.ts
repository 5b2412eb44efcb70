import type { NetworkType } from '../../../lib/onchain-address.ts'

export const litecoinCoinType = 2

/**
 * The SLIP-0044 coin types with known address formats. Coin type 1 is missing, because it stands for the test networks
 * of all coins.
 */
const typeOfCoin: Record<number, NetworkType> = {
  0: 'bitcoin',
  [litecoinCoinType]: 'litecoin',
  60: 'evm',
  61: 'evm',
  195: 'tron',
  501: 'solana',
  614: 'evm',
  700: 'evm',
  966: 'evm',
  1007: 'evm',
  8453: 'evm',
  9000: 'evm',
  9001: 'evm',
  9005: 'evm',
  9006: 'evm',
  52752: 'evm',
}

/** Returns the type of a network by its SLIP-0044 coin type. */
export function networkTypeOf(coinType: number): NetworkType {
  return typeOfCoin[coinType] ?? 'other'
}

/**
 * Returns true if a network of this coin type may have this type. A network of Litecoin may still have the type `other`, which it had
 * before the service knew Litecoin addresses, if it has addresses of another form.
 */
export function isTypeOf(coinType: number, type: string): boolean {
  return type === networkTypeOf(coinType) || (coinType === litecoinCoinType && type === 'other')
}

/**
 * Returns the slug of a network code: lower case, with hyphens in place of other characters than letters and digits. Returns
 * null when nothing is left.
 */
export function slugOf(code: string): string | null {
  const slug = code
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return slug === '' ? null : slug
}
