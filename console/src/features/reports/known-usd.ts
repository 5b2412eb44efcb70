/**
 * Returns a sum in USD. Amounts without a rate are left out of it, so zero USD over amounts other than zero means that
 * the sum is unknown.
 * @returns null if the sum is unknown
 */
export function knownUsd(usd: string, amounts: readonly string[]): string | null {
  return isZero(usd) && amounts.some((amount) => !isZero(amount)) ? null : usd
}

/** Returns the difference of two sums, or null unless both are known. */
export function knownNet(net: string, incoming: string | null, outgoing: string | null): string | null {
  return incoming === null || outgoing === null ? null : net
}

export function isZero(amount: string): boolean {
  return /^-?0*(\.0*)?$/.test(amount)
}
