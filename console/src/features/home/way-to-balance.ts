/** Sums in USD with two decimals; null if unknown. */
type Known = { opening: string | null; closing: string | null; incoming: string; outgoing: string; fees: string }

/** The steps from the balance before to the balance now, in USD. `rest` is what rates and corrections changed. */
type Way = { opening: string; net: string; fees: string; rest: string; closing: string }

/** Returns the way, whose steps add up to the cent; null while a balance is unknown. */
export function wayToBalance({ opening, closing, incoming, outgoing, fees }: Known): Way | null {
  if (opening === null || closing === null) return null
  const net = centsOf(incoming) - centsOf(outgoing)
  const rest = centsOf(closing) - centsOf(opening) - net + centsOf(fees)
  return { opening, closing, net: usdOf(net), fees: fees === '0.00' ? fees : `-${fees}`, rest: usdOf(rest) }
}

const centsOf = (usd: string): bigint => BigInt(usd.replace('.', ''))

function usdOf(cents: bigint): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
