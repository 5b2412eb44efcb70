import { keccak_256 } from '@noble/hashes/sha3.js'

/** Writes an address of 0x and 40 hex digits, in any case, with the checksum of EIP-55. */
export function toEip55(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = Buffer.from(keccak_256(Buffer.from(digits))).toString('hex')
  const checked = [...digits].map((digit, position) => (hash[position]! >= '8' ? digit.toUpperCase() : digit))
  return `0x${checked.join('')}`
}
