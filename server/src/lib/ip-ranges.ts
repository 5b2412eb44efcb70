import { isIP } from 'node:net'

/** Returns true if a text is an IP address, or a network such as `10.0.0.0/8`. /0 is refused, because it is every address. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  if (prefix === undefined) return true
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
}
