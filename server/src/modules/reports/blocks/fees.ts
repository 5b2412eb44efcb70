import { described } from '../../../http/schema.ts'
import { formatUsd } from '../requests/exact.ts'
import { AssetAmounts, Usd } from '../requests/schema.ts'
import { type Activity, assetAmounts, type Fees, type Group } from './flows.ts'

/** The network fees of operations, in the coins that paid them and in USD. */
export const feeFigures = {
  feesByAsset: described(
    AssetAmounts,
    'Booked network fees of these operations, whatever their status, per coin that paid them.',
  ),
  feesUsd: described(
    Usd,
    'Sum of the USD values of these fees when they were booked; fees without a rate are left out.',
  ),
}

/** The coin of the network of each token. */
type Coins = Pick<Activity, 'assets' | 'coinOf'>

export function sumFees(groups: Iterable<Pick<Group, 'tokenId'> & Fees>, { assets, coinOf }: Coins) {
  const amounts = new Map<string, bigint>()
  let cents = 0n
  for (const { tokenId, fees, feesUsd } of groups) {
    cents += feesUsd
    if (fees === 0n) continue
    const coinId = coinOf(tokenId)!.tokenId
    amounts.set(coinId, (amounts.get(coinId) ?? 0n) + fees)
  }
  return { feesByAsset: assetAmounts(amounts, assets), feesUsd: formatUsd(cents) }
}
