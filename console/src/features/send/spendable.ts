import { fromRaw } from '@strongroom/sdk'

/**
 * Estimates the fee of all that can be sent where it grows with what is spent: of most of it first, then of what that fee leaves.
 * Returns null while the fee is unknown.
 */
export async function feeOfAll(
  available: bigint,
  feeOf: (amount: bigint) => Promise<string | null>,
): Promise<string | null> {
  const ofMost = await feeOf((available * 9n) / 10n)
  if (ofMost === null) return null
  const rest = available - 2n * BigInt(ofMost)
  const ofRest = rest > 0n ? await feeOf(rest) : null
  return ofRest !== null && BigInt(ofRest) > BigInt(ofMost) ? ofRest : ofMost
}

type Balance = { available: string; decimals: number }

/**
 * Returns the largest amount that can be sent, in units of the token. Of the coin that pays for gas, twice the
 * estimated fee stays behind, because the wallet offers the chain up to that much. Returns null while the fee is
 * unknown.
 */
export function spendable(balance: Balance, gas: { isNativeCoin: boolean; fee: string | null }): string | null {
  const available = BigInt(balance.available)
  if (!gas.isNativeCoin) return fromRaw(available, balance.decimals)
  if (gas.fee === null) return null
  const rest = available - 2n * BigInt(gas.fee)
  return fromRaw(rest > 0n ? rest : 0n, balance.decimals)
}
