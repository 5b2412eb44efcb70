import type { Quantity } from '../../sdk/src/signing/signing.ts'
import { element, grouped } from './elements.ts'

/** An amount as people read it: in the unit of the authority, or as it is signed where no authority names the token. */
export const amountOf = ({ named, raw }: Quantity): string =>
  named === null ? `${raw} in the smallest unit` : `${named.decimal} ${named.symbol}`

export function tokenOf({ network, contractAddress }: Quantity): Node | string {
  if (contractAddress === null) return `the coin of ${network}`
  return element('span', {}, `on ${network}, contract `, grouped(contractAddress))
}

export function feeOf(limit: Quantity | null): string {
  if (limit === null) return 'none was set: it may be raised to five times what is usual'
  const exact = `${limit.raw} in the smallest unit of the coin of ${limit.network}`
  return limit.named === null ? exact : `${amountOf(limit)} (${exact})`
}
