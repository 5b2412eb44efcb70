import { type Address, getAddress, type Hex, isAddress, zeroAddress } from 'viem'
import { badField } from '../../errors.ts'

/** Parses an address. Letters of a single case are accepted; in mixed case, a wrong EIP-55 checksum is refused as a typing error. */
export function readAddress(field: string, value: string): Address {
  if (!/^0x[0-9a-fA-F]{40}$/.test(value)) throw badField(field, 'must be 0x and 40 hexadecimal digits')
  const digits = value.slice(2)
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  if (!oneCase && !isAddress(value)) throw badField(field, 'has a wrong EIP-55 checksum')
  return getAddress(value.toLowerCase())
}

export function readRecipient(value: string): Address {
  const toAddress = readAddress('toAddress', value)
  if (toAddress === zeroAddress) throw badField('toAddress', 'must not be the zero address')
  return toAddress
}

export function readHash(field: string, value: string): Hex {
  if (!/^0x[0-9a-fA-F]{64}$/.test(value)) throw badField(field, 'must be 0x and 64 hexadecimal digits')
  return value.toLowerCase() as Hex
}
