/**
 * A sum in USD leaves out what has no rate, so a sum of zero over amounts that are not zero is not known.
 * @returns null where it is not known
 */
export function knownUsd(usd: string, amounts: readonly string[]): string | null {
  return isZero(usd) && amounts.some((amount) => !isZero(amount)) ? null : usd
}

/** The difference of two sums is known where both are. */
export function knownNet(net: string, incoming: string | null, outgoing: string | null): string | null {
  return incoming === null || outgoing === null ? null : net
}

export function isZero(amount: string): boolean {
  return /^-?0*(\.0*)?$/.test(amount)
}
