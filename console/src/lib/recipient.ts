/** An address as it is compared: the letters of a 0x address may be written in either case. */
export function addressKey(address: string): string {
  return /^0x/i.test(address) ? address.toLowerCase() : address
}

/** Whether a text is meant as an address and not as a name: its exact form is for the service to judge. */
export function isAddressLike(text: string): boolean {
  if (/^0x/i.test(text)) return /^0x[0-9a-f]{40}$/i.test(text)
  return /^[A-Za-z0-9]{25,90}$/.test(text) && /\d/.test(text)
}

/** The characters by which people recognise an address: the first and the last four, without 0x. */
export function endsOf(address: string): { first: string; last: string } {
  const plain = addressKey(address).replace(/^0x/, '')
  return { first: plain.slice(0, 4), last: plain.slice(-4) }
}

/** Whether two addresses begin or end alike and are different: the trick by which people are made to pay the wrong one. */
export function looksLike(one: string, other: string): boolean {
  if (addressKey(one) === addressKey(other)) return false
  const [a, b] = [endsOf(one), endsOf(other)]
  return a.first === b.first || a.last === b.last
}

/** An address that is known, and whose it is. */
export type Known = { address: string; name: string }

/** Finds a known address, and one that looks like another, without comparing everything with everything. */
export function bookOf(known: readonly Known[]) {
  const same = new Map(known.map((each) => [addressKey(each.address), each]))
  const byEnds = new Map<string, Known[]>()
  for (const each of known) {
    for (const key of keysOfEnds(each.address)) byEnds.set(key, [...(byEnds.get(key) ?? []), each])
  }
  return {
    same: (address: string) => same.get(addressKey(address)),
    alike: (address: string) =>
      keysOfEnds(address)
        .flatMap((key) => byEnds.get(key) ?? [])
        .find((each) => looksLike(each.address, address)),
  }
}

function keysOfEnds(address: string): string[] {
  const { first, last } = endsOf(address)
  return [`first ${first}`, `last ${last}`]
}
