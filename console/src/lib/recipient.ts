/** Returns an address in the form in which addresses are compared: letters of a 0x address may have either case. */
export function addressKey(address: string): string {
  return /^0x/i.test(address) ? address.toLowerCase() : address
}

/** Returns true if a text is meant as an address and not as a name. The service checks its exact form. */
export function isAddressLike(text: string): boolean {
  if (/^0x/i.test(text)) return /^0x[0-9a-f]{40}$/i.test(text)
  return /^[A-Za-z0-9]{25,90}$/.test(text) && /\d/.test(text)
}

/** Returns the characters by which people recognise an address: the first and the last four, without 0x. */
export function endsOf(address: string): { first: string; last: string } {
  const plain = addressKey(address).replace(/^0x/, '')
  return { first: plain.slice(0, 4), last: plain.slice(-4) }
}

/**
 * Returns true if two different addresses begin or end alike. Attackers use such addresses to make people pay the wrong
 * one.
 */
export function looksLike(first: string, second: string): boolean {
  if (addressKey(first) === addressKey(second)) return false
  const [a, b] = [endsOf(first), endsOf(second)]
  return a.first === b.first || a.last === b.last
}

/** A known address with the name of its holder. */
export type Known = { address: string; name: string }

/** Finds a known address, or a known address that looks like another, without comparing every pair. */
export function bookOf(known: readonly Known[]) {
  const same = new Map(known.map((entry) => [addressKey(entry.address), entry]))
  const byEnds = new Map<string, Known[]>()
  for (const entry of known) {
    for (const key of keysOfEnds(entry.address)) byEnds.set(key, [...(byEnds.get(key) ?? []), entry])
  }
  return {
    same: (address: string) => same.get(addressKey(address)),
    alike: (address: string) =>
      keysOfEnds(address)
        .flatMap((key) => byEnds.get(key) ?? [])
        .find((entry) => looksLike(entry.address, address)),
  }
}

function keysOfEnds(address: string): string[] {
  const { first, last } = endsOf(address)
  return [`first ${first}`, `last ${last}`]
}
