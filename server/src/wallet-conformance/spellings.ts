import { parseOnchainAddress } from '../lib/onchain-address.ts'

/** An EVM address with the case of one letter changed, which breaks its EIP-55 checksum. */
export function breakChecksum(address: string): string {
  const position = [...address].findIndex((character, index) => index > 1 && /[a-fA-F]/.test(character))
  const letter = address[position] ?? ''
  const swapped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
  return address.slice(0, position) + swapped + address.slice(position + 1)
}

/** Whether the text is an EVM address in EIP-55 form. */
export function isChecksummed(address: string): boolean {
  return parseOnchainAddress(address, 'evm')?.address === address
}

/** Amounts that are not digits of 0 to 2^256-1, each with a word for it. */
export const wrongAmounts: [string, unknown][] = [
  ['a negative amount', '-1'],
  ['a fraction', '1.5'],
  ['an exponent', '1e18'],
  ['a hexadecimal amount', '0x10'],
  ['an amount with a space', ' 1'],
  ['an empty amount', ''],
  ['2^256', (2n ** 256n).toString()],
  ['a JSON number', 1000],
  ['null', null],
]
