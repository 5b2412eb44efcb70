import { spellingKey } from './address-keys.ts'
import { defineSelector, unknownFinding } from './selector.ts'
import { readOnchainSet } from './values.ts'

/** The address that pays, by its id or its on-chain address. */
export const sourceAddress = defineSelector(readOnchainSet, (named, { sourceAddressId, sourceAddress }) => {
  const observed = sourceAddress ?? sourceAddressId
  if (observed === undefined) return unknownFinding
  const keys = named.map(spellingKey)
  const isNamed =
    (sourceAddressId !== undefined && named.includes(sourceAddressId)) ||
    (sourceAddress !== undefined && keys.includes(spellingKey(sourceAddress)))
  const isCertain = isNamed || (sourceAddressId !== undefined && sourceAddress !== undefined)
  return { matched: isCertain ? isNamed : null, observed }
})
