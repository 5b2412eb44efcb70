import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

export type NetworkType = 'evm' | 'bitcoin' | 'tron' | 'solana' | 'other'

/** An on-chain address as it is shown, and the key by which two spellings of it are compared. */
export type OnchainAddress = { address: string; key: string }

/**
 * Reads an on-chain address. EVM addresses are case-insensitive and shown in EIP-55 form; a mixed-case one with a wrong
 * EIP-55 checksum is refused. Other networks are compared exactly.
 * Returns null when the text is no address of the network.
 */
export function parseOnchainAddress(text: string, type: NetworkType): OnchainAddress | null {
  if (type !== 'evm') return /^[\x21-\x7e]{1,128}$/.test(text) ? { address: text, key: text } : null
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null
  const lower = text.slice(2).toLowerCase()
  const address = toChecksum(lower)
  const digits = text.slice(2)
  const isMixedCase = digits !== lower && digits !== digits.toUpperCase()
  if (isMixedCase && address !== text) return null
  return { address, key: `0x${lower}` }
}

/** EIP-55: a digit is upper case where the hash of the lower-case address has a nibble of 8 or more. */
function toChecksum(lower: string): string {
  const hash = bytesToHex(keccak_256(utf8ToBytes(lower)))
  let checksummed = '0x'
  for (let i = 0; i < 40; i += 1) {
    const digit = lower.charAt(i)
    checksummed += Number.parseInt(hash.charAt(i), 16) >= 8 ? digit.toUpperCase() : digit
  }
  return checksummed
}

/**
 * The key of a transaction hash: hex ones are compared in lower case, as nodes and explorers disagree on case. Without
 * `0x` only 64 digits are hex for sure (Bitcoin, Tron): the base58 hashes of Solana are longer.
 */
export function txHashKey(text: string): string {
  return /^(0x[0-9a-f]+|[0-9a-f]{64})$/i.test(text) ? text.toLowerCase() : text
}
