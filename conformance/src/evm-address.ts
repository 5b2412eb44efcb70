import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

const form = /^0x[0-9a-fA-F]{40}$/

/** Returns true for an EVM address. One case throughout has no checksum; a mixed one must be in EIP-55 form. */
export function isEvmAddress(text: string): boolean {
  const digits = text.slice(2)
  const isInOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  return form.test(text) && (isInOneCase || text === toChecksum(text))
}

/** Returns true for an EVM address in EIP-55 form. */
export function isChecksummed(text: string): boolean {
  return form.test(text) && text === toChecksum(text)
}

/** An EVM address with the case of one letter changed, which breaks its EIP-55 checksum. */
export function breakChecksum(address: string): string {
  const position = [...address].findIndex((character, index) => index > 1 && /[a-fA-F]/.test(character))
  const letter = address[position] ?? ''
  const swapped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
  return address.slice(0, position) + swapped + address.slice(position + 1)
}

/** EIP-55: a digit is upper case where the hash of the lower-case address has a nibble of 8 or more. */
function toChecksum(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)))
  const isUpper = (index: number) => Number.parseInt(hash.charAt(index), 16) >= 8
  return `0x${[...digits].map((digit, index) => (isUpper(index) ? digit.toUpperCase() : digit)).join('')}`
}
