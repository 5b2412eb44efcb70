import ipaddr from 'ipaddr.js'

/** Returns the sender whose requests a limit counts: an IPv4 address, or a /64 network, because an IPv6 host may use all its addresses. */
export function senderOf(ip: string): string {
  return prefixOf(ip, 32)
}

/** Returns the network in which a program counts as the program of the same person: /24 of IPv4, /64 of IPv6. */
export function networkOf(ip: string): string {
  return prefixOf(ip, 24)
}

function prefixOf(ip: string, ipv4Bits: 24 | 32): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv6') {
    const network = (address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16))
    return `${network.join(':')}::/64`
  }
  if (ipv4Bits === 32) return address.toString()
  return `${(address as ipaddr.IPv4).octets.slice(0, 3).join('.')}.0/24`
}
