import { type Address, getAddress, isAddress, zeroAddress } from 'viem'
import { badField } from '../../errors.ts'

/** Parses an address in EIP-55 form; a single case is accepted, a wrong checksum is refused as a typing error. */
export function readAddress(field: string, value: string): Address {
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
