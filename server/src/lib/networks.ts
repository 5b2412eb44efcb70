import ipaddr from 'ipaddr.js'

/**
 * Returns the address and the prefix of a network in CIDR notation, such as `203.0.113.0/24`; null for another text. The address must
 * be the first of its network, in decimal digits, so that no two readers understand different networks.
 */
function readNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | null {
  if (!/^[0-9a-fA-F.:]+\/(0|[1-9]\d{0,2})$/.test(text) || !ipaddr.isValidCIDR(text)) return null
  const [address, prefix] = ipaddr.parseCIDR(text)
  const first = firstOf(text, address.kind())
  if (first.toString() !== address.toString()) return null
  // Senders with such an address count as senders of IPv4.
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) return null
  if (address.kind() === 'ipv4' && !ipaddr.IPv4.isValidFourPartDecimal(text.split('/')[0]!)) return null
  return [address, prefix]
}

const firstOf = (text: string, kind: 'ipv4' | 'ipv6') =>
  kind === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(text) : ipaddr.IPv6.networkAddressFromCIDR(text)

export const isNetwork = (text: string): boolean => readNetwork(text) !== null

/** Returns true if an address is in one of the networks. A text that is not an address is in no network. */
export function isWithin(ip: string, networks: string[]): boolean {
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  return networks.some((text) => {
    const network = readNetwork(text)
    return network !== null && network[0].kind() === address.kind() && address.match(network)
  })
}
